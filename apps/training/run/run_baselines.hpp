// Baselines of a run: results of simple methods on each split, and the blend of the run's models with trees and a
// Gaussian process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/training/baselines/baselines.hpp"
#include "apps/training/run/predictions.hpp"
#include "apps/training/run/run_options.hpp"
#include "apps/training/run/train_report.hpp"
#include "apps/training/run/train_run.hpp"

namespace molgraph {

/// Created once per run; all splits share the molecules' descriptors.
class RunBaselines {
 public:
  RunBaselines(const TrainRun& run, const ResolvedRun& resolved);

  /// Computes the descriptors of all molecules and estimates the time for the baselines of one split. All processes
  /// call it. Returns zeros if there are no baselines, and in all processes except the first. Throws the errors of
  /// of_split(); if the first process throws, the others throw Stopped.
  BaselineSeconds prepare(const LoadedData& data);

  /// Returns the baselines of `split` as columns of the report; none if they are off. Requires prepare(). With
  /// --blend, mixes `predictions` (of the model, or the mean over ensemble members) with those of the trees and the
  /// Gaussian process, and writes these two partners into `folder`, that of the run or the ensemble. The transformer
  /// alone then becomes a column. The shares are chosen on the validation set. Predictions for the validation set come
  /// from partners that were not trained on it, all others from partners that were. A partner that becomes much worse
  /// with the validation set is kept without it (why_refit_is_rejected()).
  /// `member_splits`: the splits of the members if they differ; the baselines are then fitted for each.
  /// Fitting and choosing use labels clipped to the label_limits() of the training and validation set; `data` contains
  /// the clipped labels during the call. The log lists what was left out and why. Throws RunError, Stopped, and
  /// UsageError if a blend was requested but has no partner.
  std::vector<ComparedMethod> of_split(LoadedData& data, const Split& split, const std::vector<Split>& member_splits,
                                       AllPredictions& predictions, const std::string& folder);

  /// Difficulty of the last split for a single model; empty if the blend has no Gaussian process or no regression
  /// target.
  const Difficulty& difficulty() const { return difficulty_; }

  /// Shares [T] of the transformer in the predictions of the last split; empty = 1.
  const std::vector<double>& model_shares() const { return model_shares_; }

  /// True if a partner of the last split was also trained on its validation set.
  bool trained_on_valid() const { return trained_on_valid_; }

  /// Partners in the blend of the last split, under their names in run.json; empty = no blend.
  const std::vector<std::string>& partners() const { return partners_; }

 private:
  /// Computes rows_. Returns false, and logs the reason, if there are too many molecules or one cannot be read.
  bool make_rows(const MoleculeSet& set);
  /// True, with the reason in the log, if the retrained partner is not used. `before`: predictions of the partner that
  /// was fitted to the training set; `after`: of the retrained one, for all sets except the validation set.
  bool is_rejected(const std::string& name, const LoadedData& data, const Split& split, const PartPredictions& before,
                   const PartPredictions& after) const;
  void blend(const LoadedData& data, const Split& split, const Baselines& baselines, AllPredictions& predictions,
             const std::string& folder);
  /// Baselines of `split`, or pooled over the splits of all members, with the trees and the process of the last
  /// member.
  Baselines make(const LoadedData& data, const Split& split, const std::vector<Split>& member_splits) const;
  BaselineSeconds seconds_of_split(const LoadedData& data);
  BaselineOptions baseline_options() const;

  const TrainRun& run_;
  const ResolvedRun& resolved_;
  bool enabled_ = false;
  std::optional<FeatureRows> rows_;
  std::vector<std::string> partners_;
  Difficulty difficulty_;
  std::vector<double> model_shares_;
  bool trained_on_valid_ = false;
};

}  // namespace molgraph
