// A whole model on one molecule: what every engine has to compute.
#pragma once

#include <vector>

#include "attention/formula/dropout.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::formula {

struct Output {
  std::vector<double> scaled;  ///< [outputs] of the head, as Engine::predict() has them
  std::vector<Matrix> states;  ///< [N, C] each: node input, after every block, and what the head reads (its row 0)
};

/// `molecule` counts within the batch, of which nothing else is looked at; the batch needs no paths. `perturbation` [N,
/// C] is FLAG's. Nothing is checked: plan and batch are such as attention/spec/plan_check.hpp lets through.
Output run(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule, const Parameters& parameters,
           const RandomMode& random = {}, const Matrix& perturbation = {});

/// Output::scaled without random numbers.
std::vector<double> predict(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule,
                            const Parameters& parameters);

}  // namespace molgraph::formula
