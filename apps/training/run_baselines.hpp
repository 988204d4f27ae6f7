// Baselines of a run: what simple methods reach on each of its splits, and the blend of its models with trees and a
// Gaussian process.
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

/// Made once for a run; what it sees of the molecules serves all of its splits.
class RunBaselines {
 public:
  RunBaselines(const TrainRun& run, const ResolvedRun& resolved);

  /// The baselines of `data.split` as columns of the report; none where they are not wanted. With --blend
  /// `predictions`, of the model or the mean of an ensemble's members, becomes its mixture with the trees and the
  /// Gaussian process, which are written into `folder`, the run's or the
  /// ensemble's: predictions of the validation part are those
  /// of partners that have not learned it, by which the shares were chosen, all others those of partners that have. The
  /// transformer alone is a column then. `rounds`: the splits that the members were trained on, where these are
  /// several; the baselines are made for each. Tells what was left out and why. Throws RunError, Stopped, UsageError
  /// where a blend is asked for and can have no partner.
  std::vector<Rival> of_split(const LoadedData& data, const std::vector<Split>& rounds, AllPredictions& predictions,
                              const std::string& folder);

  /// [T] The transformer's share in what it predicts of the last split; empty = all.
  const std::vector<double>& model_shares() const { return model_shares_; }

  /// What the last split's models were mixed with, as run.json names it; empty = nothing.
  const std::vector<std::string>& partners() const { return partners_; }

 private:
  /// Nothing if the molecules' texts cannot be read (the reason is told).
  const FeatureRows* rows_of(const MoleculeSet& set);
  void blend(const LoadedData& data, const Baselines& baselines, AllPredictions& predictions,
             const std::string& folder);
  /// Of `data.split`, or of all rounds, pooled; trees and process of the last.
  Baselines make(const LoadedData& data, const std::vector<Split>& rounds) const;
  BaselineOptions baseline_options() const;

  const TrainRun& run_;
  const ResolvedRun& resolved_;
  bool wanted_ = false;
  std::optional<FeatureRows> rows_;
  std::vector<std::string> partners_;
  std::vector<double> model_shares_;
};

}  // namespace molgraph
