// The intervals and temperatures of a run: made of what its models have not learned, kept beside them, told in results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/training/calibration_fit.hpp"
#include "apps/training/predictions.hpp"
#include "apps/training/run_directory.hpp"
#include "apps/training/train_report.hpp"

namespace molgraph {

/// What several models of an ensemble disagree by [n, outputs]; empty where there is one model.
struct Disagreement {
  std::vector<double> valid, test, calibration;

  /// `same_parts`: all have the same validation part; else there is nothing of it.
  Disagreement(const std::vector<AllPredictions>& models, bool same_parts);
  /// Once partners share in the predictions: `shares` [T] of the models; empty = all.
  void scale(const Task& task, const std::vector<double>& shares);
};

class RunCalibration {
 public:
  /// Of a split: by its calibration part, else by its validation part. `predictions`: what the run says, uncalibrated;
  /// afterwards its probabilities have their temperature. `pooled`: the validation part consists of several, each
  /// predicted by one model, whose temperature would not be that of the members' mean: there is none.
  static RunCalibration of_split(const LoadedData& data, AllPredictions& predictions, const Disagreement& disagreement,
                                 std::int64_t members, bool pooled);
  /// Of cross-validation: by the test part of each of `folds`, as its own model predicts it without a temperature.
  /// Nothing if a molecule is in several test parts.
  static RunCalibration of_folds(const Task& task, const std::vector<Split>& folds,
                                 const std::vector<PredictedRows>& tests);

  /// Writes calibration.json into the folder, or takes one away that is none of this run; true if there is one.
  bool write(const std::string& folder) const;
  /// What was made and what was not, for people.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Of the test part of of_split() at kReportedLevel; nothing if no target has an interval.
  std::optional<IntervalColumns> test_intervals() const;
  /// Rows for results.csv, and a line for people.
  void add_results(Report& report) const;
  /// Uncalibrated predictions of the test part of of_split().
  const PredictedRows& test() const { return test_; }

 private:
  std::optional<Calibration> calibration_;  ///< nothing: no part is there to calibrate by
  std::vector<std::string> notes_;
  PredictedRows test_;
};

/// Throws UsageError if --calibration-size leaves fewer than kFewestCalibrationLabels labels of every target, and names
/// the share that is needed. Returns a warning if it leaves fewer of some targets, or if `resumed`: such a run was
/// started by an earlier version. "" = enough.
std::string check_calibration_size(const LoadedData& data, bool resumed);

}  // namespace molgraph
