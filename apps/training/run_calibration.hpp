// The intervals and temperatures of a run: made of what its models have not learned, kept beside them, told in results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/training/calibration_fit.hpp"
#include "apps/training/predictions.hpp"
#include "apps/training/run_control.hpp"
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
  /// afterwards its probabilities have their temperature. Tells what was made, and what not.
  static RunCalibration of_split(const LoadedData& data, AllPredictions& predictions, const Disagreement& disagreement,
                                 std::int64_t members, const RunControl& control);
  /// Of cross-validation: by each fold's test part, as its own model predicts it without a temperature.
  static RunCalibration of_folds(const Task& task, const std::vector<PredictedRows>& tests, const RunControl& control);

  /// Writes calibration.json into the folder, or takes one away that is none of this run; true if there is one.
  bool write(const std::string& folder) const;
  /// Rows for results.csv, and a line for people.
  void add_results(Report& report) const;
  /// Uncalibrated predictions of the test part of of_split().
  const PredictedRows& test() const { return test_; }

 private:
  std::optional<Calibration> calibration_;  ///< nothing: no part is there to calibrate by
  PredictedRows test_;
};

}  // namespace molgraph
