// Attributions of a run's predictions to atoms: those of its models, put together as its predictions are.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/calibration.hpp"
#include "apps/scoring/explanation.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/scoring/path_integral.hpp"
#include "apps/scoring/run_blend.hpp"

namespace molgraph {

/// Molecules of a call as the predictor has them.
struct ExplainedRows {
  const std::vector<FeaturizeResult>& molecules;
  const std::vector<float>& inputs;  ///< [molecules, D] what heads read beside the graph
  /// What the partners of each run add to its predictions [molecules, outputs].
  const PartnerRows& partners;
};

/// Thread-safe.
class Explainer {
 public:
  using Blends = std::vector<std::shared_ptr<const RunBlend>>;
  /// `runs`, `blends` (null = none) and `temperatures` (null = none) must outlive it; `weights`: the runs' files.
  /// Throws as PathIntegral does.
  Explainer(const std::vector<ScoringModel>& runs, const Blends& blends, const std::vector<std::string>& weights,
            int threads);

  /// Files that it reads beside the weights.
  std::vector<std::string> files() const;
  /// One per molecule. `temperatures`: of the run's probabilities, null = none.
  std::vector<Explanation> explain(const ExplainedRows& rows, const Calibration* temperatures) const;

 private:
  class Group;

  const std::vector<ScoringModel>& runs_;
  const Blends& blends_;
  std::vector<std::unique_ptr<const PathIntegral>> paths_;
  std::vector<double> deviation_;  ///< [outputs] of the targets in training; 1 where they are not scaled
  int threads_;
};

}  // namespace molgraph
