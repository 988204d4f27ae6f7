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

  /// Computes the descriptors of all molecules, and how long the baselines of one split take here. All processes call
  /// it; zeros where there are no baselines, and in all processes but the first. Throws what of_split() throws, and
  /// Stopped in the other processes if the first one throws.
  BaselineSeconds prepare(const LoadedData& data);

  /// After prepare(): the baselines of `data.split` as columns of the report; none where they are not wanted. With
  /// --blend `predictions`, of the model or the mean of an ensemble's members, becomes its mixture with the trees and
  /// the Gaussian process, which are written into `folder`, the run's or the ensemble's: predictions of the validation
  /// part are those of partners that have not learned it, by which the shares were chosen, all others those of partners
  /// that have. The transformer alone is a column then. `rounds`: the splits that the members were trained on, where
  /// these are several; the baselines are made for each. All of it is learned and chosen by labels within the
  /// label_limits() of training and validation part, which `data` has in place of the others until the call ends. A
  /// partner that is far worse with the validation part than without stays the one without (why_refit_is_rejected()).
  /// Tells what was left out and why. Throws RunError, Stopped, UsageError where a blend is asked for and can have no
  /// partner.
  std::vector<Rival> of_split(LoadedData& data, const std::vector<Split>& rounds, AllPredictions& predictions,
                              const std::string& folder);

  /// [T] The transformer's share in what it predicts of the last split; empty = all.
  const std::vector<double>& model_shares() const { return model_shares_; }

  /// Has a partner of the last split learned its validation part?
  bool knows_valid() const { return knows_valid_; }

  /// What the last split's models were mixed with, as run.json names it; empty = nothing.
  const std::vector<std::string>& partners() const { return partners_; }

 private:
  /// False if the molecules' texts cannot be read (the reason is told).
  bool make_rows(const MoleculeSet& set);
  /// Is a partner that was made again not used? Then the log says why. `before`: predictions of the one made of the
  /// training part, `after`: of the one made again, of all parts but the validation part.
  bool is_rejected(const std::string& name, const LoadedData& data, const PartPredictions& before,
                   const PartPredictions& after) const;
  void blend(const LoadedData& data, const Baselines& baselines, AllPredictions& predictions,
             const std::string& folder);
  /// Of `data.split`, or of all rounds, pooled; trees and process of the last.
  Baselines make(const LoadedData& data, const std::vector<Split>& rounds) const;
  BaselineSeconds seconds_of_split(const LoadedData& data);
  BaselineOptions baseline_options() const;

  const TrainRun& run_;
  const ResolvedRun& resolved_;
  bool wanted_ = false;
  std::optional<FeatureRows> rows_;
  std::vector<std::string> partners_;
  std::vector<double> model_shares_;
  bool knows_valid_ = false;
};

}  // namespace molgraph
