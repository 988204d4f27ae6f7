// Attention rollout of a run's models, computed by the reference implementation of the formula.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/explanation.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// Thread-safe.
class RolloutExplainer {
 public:
  /// `weights`: the models' files. Throws FileError.
  RolloutExplainer(const std::vector<std::string>& weights, int threads);

  /// One per molecule. Fills only Explanation::rollout, the mean over the models.
  std::vector<Explanation> explain(const std::vector<FeaturizeResult>& molecules) const;

 private:
  struct Model {
    ModelPlan plan;
    formula::Parameters parameters;
  };
  std::vector<double> atoms_of(const MolecularGraph& graph) const;

  std::vector<Model> models_;
  int threads_;
};

}  // namespace molgraph
