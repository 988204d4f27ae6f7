// Prediction intervals and temperatures of a run: fitted to held-out predictions, stored with the models and reported
// in the results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/training/run/calibration_fit.hpp"
#include "apps/training/run/predictions.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/train_report.hpp"

namespace molgraph {

/// The difficulty for an ensemble; empty for a single model. `same_parts`: all members share the validation set;
/// otherwise `valid` remains empty.
Difficulty ensemble_difficulty(const std::vector<AllPredictions>& models, bool same_parts);
/// Multiplies an ensemble's difficulty by the `shares` [T] of the models in a blend; empty = 1.
void scale_by_shares(const Task& task, const std::vector<double>& shares, Difficulty& difficulty);

class RunCalibration {
 public:
  /// Calibrates on the calibration set of `split`, if there is none on its validation set. Applies the temperatures to
  /// `predictions`, the uncalibrated predictions of the run. `pooled`: the validation set is pooled from several sets,
  /// each predicted by one model. There is then no temperature, because it would not be that of the members' mean.
  static RunCalibration of_split(const LoadedData& data, const Split& split, AllPredictions& predictions,
                                 const Difficulty& difficulty, std::int64_t members, bool pooled);
  /// Calibrates on cross-validation: on the test set of each fold, predicted by its own model without a temperature.
  /// Contains no calibration if a molecule is in several test sets.
  static RunCalibration of_folds(const Task& task, const std::vector<Split>& folds,
                                 const std::vector<PredictedRows>& tests);

  /// Writes calibration.json into the folder and returns true. Without a calibration, removes an existing file and
  /// returns false.
  bool write(const std::string& folder) const;
  /// Log lines: what was calibrated, what was not and why.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Intervals for the test set of of_split() at kReportedLevel; NaN for targets without an interval, nothing without a
  /// calibration.
  std::optional<IntervalColumns> test_intervals() const;
  /// Adds rows to results.csv and a line to the report text.
  void add_results(Report& report) const;
  /// Uncalibrated predictions for the test set of of_split().
  const PredictedRows& test() const { return test_; }

 private:
  std::optional<Calibration> calibration_;  ///< nothing without calibration data
  std::vector<std::string> notes_;
  PredictedRows test_;
};

/// Throws UsageError with the required share if --calibration-size leaves fewer than kMinCalibrationLabels labels
/// for every target. Returns a warning if only some targets have fewer. "" = enough labels.
std::string check_calibration_size(const LoadedData& data);

}  // namespace molgraph
