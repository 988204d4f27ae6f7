// Attributions of a run's predictions to atoms, combined from those of its models like the predictions.
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

/// The molecules of a call.
struct ExplainedRows {
  const std::vector<FeaturizeResult>& molecules;
  const std::vector<float>& inputs;  ///< [molecules, D] numeric inputs of the heads
  const PartnerRows& partners;
};

/// Thread-safe.
class Explainer {
 public:
  using Blends = std::vector<std::shared_ptr<const RunBlend>>;
  /// `runs`, `blends` (null = none) and `temperatures` (null = none) must outlive it; `weights`: the runs' files.
  /// Throws like PathIntegral.
  Explainer(const std::vector<ScoringModel>& runs, const Blends& blends, const std::vector<std::string>& weights,
            int threads);

  /// The files that it reads in addition to the weights.
  std::vector<std::string> files() const;
  /// One per molecule. `temperatures`: the run's calibration, null = none.
  std::vector<Explanation> explain(const ExplainedRows& rows, const Calibration* temperatures) const;

 private:
  class Group;

  const std::vector<ScoringModel>& runs_;
  const Blends& blends_;
  std::vector<std::unique_ptr<const PathIntegral>> paths_;
  std::vector<double> deviation_;  ///< [outputs] of the targets in the training set; 1 for unscaled targets
  int threads_;
};

}  // namespace molgraph
