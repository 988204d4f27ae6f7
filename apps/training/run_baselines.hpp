// Baselines of a run: what simple methods reach on each of its splits, and the blend of its models with the trees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/training/baselines/baselines.hpp"
#include "apps/training/predictions.hpp"
#include "apps/training/run_options.hpp"
#include "apps/training/train_report.hpp"
#include "apps/training/train_run.hpp"

namespace molgraph {

/// On for people's own tables of at most kMostBaselineRows training molecules, where nothing is said. Throws UsageError
/// for a blend that cannot be made.
bool wants_baselines(const TrainOptions& options, const LoadedData& data);

/// Made once for a run; what it sees of the molecules serves all of its splits.
class RunBaselines {
 public:
  RunBaselines(const TrainRun& run, const ResolvedRun& resolved);

  /// The baselines of `data.split` as columns of the report; none where they are not wanted. With --blend each of
  /// `models` (the members of an ensemble, in `folders`) becomes its mixture with the trees, which are written beside
  /// it: predictions of the validation part are those of the trees by which the shares were chosen, all others those
  /// of trees that know the validation part too. The transformer alone is a column then. Tells what was left out and
  /// why. Throws RunError, Stopped, UsageError where a blend is asked for and no trees can be made.
  std::vector<Rival> of_split(const LoadedData& data, std::vector<AllPredictions>& models,
                              const std::vector<std::string>& folders);

 private:
  /// Nothing if the molecules' texts cannot be read (the reason is told).
  const FeatureRows* rows_of(const MoleculeSet& set);
  void blend(const LoadedData& data, Baselines& baselines, std::vector<AllPredictions>& models,
             const std::vector<std::string>& folders) const;
  BaselineOptions baseline_options() const;

  const TrainRun& run_;
  const ResolvedRun& resolved_;
  bool wanted_ = false;
  std::optional<FeatureRows> rows_;
};

}  // namespace molgraph
