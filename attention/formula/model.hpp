// A whole model on one molecule: the definition of what every engine computes.
#pragma once

#include <vector>

#include "attention/formula/dropout.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::formula {

struct Output {
  std::vector<double> scaled;  ///< [outputs] of the head, as in Engine::predict()
  std::vector<Matrix> states;  ///< [N, C] each: node input, after each block, and the encoder's output
};

/// Runs the model on molecule number `molecule` of the batch. The batch needs no paths. `perturbation` [N, C] is
/// FLAG's. Does not check anything: plan and batch must pass the checks of attention/spec/plan_check.hpp.
Output run(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule, const Parameters& parameters,
           const RandomMode& random = {}, const Matrix& perturbation = {});

/// Output::scaled, without random numbers.
std::vector<double> predict(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule,
                            const Parameters& parameters);

}  // namespace molgraph::formula
