// From labels and predictions that the model has not learned from to intervals and temperatures, and how well they
// hold.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/scoring/calibration.hpp"

namespace molgraph {

/// Fewer labels of a target give neither interval nor temperature.
inline constexpr std::int64_t kFewestCalibrationLabels = 50;
/// The level of the intervals that results are told of.
inline constexpr double kReportedLevel = 0.9;

/// Molecules with their labels.
struct PredictedRows {
  std::vector<double> predictions;  ///< [n, outputs], in the target's unit or as probabilities
  std::vector<double> deviation;    ///< [n, outputs] over an ensemble; empty = there is none
  std::vector<double> labels;       ///< [n, T], NaN = missing
};

/// `rows`: one, or of folds one per fold. A target with fewer labels than kFewestCalibrationLabels, or of one class
/// alone, keeps the temperature 1 and no errors; so do all classes without `temperatures`. The temperature, between
/// 0.25 and 10, has the least negative log-likelihood of Platt's targets (1999, section 2.2), which keep a small part
/// whose classes are all told apart from giving probabilities of 0 and 1. It is 1 unless that gains more than two of
/// its standard errors. The offset of an ensemble's errors is its mean deviation over the rows.
Calibration fit_calibration(const Task& task, CalibrationPart part, const std::vector<PredictedRows>& rows,
                            bool temperatures = true);
/// True if there is an interval or a temperature for any target.
bool is_of_use(const Calibration& calibration);
/// What was made of how many labels, and for which targets there were too few; for people. `inner_folds`: --out-of-fold
/// would be possible.
std::vector<std::string> calibration_notes(const Calibration& calibration, bool inner_folds);

/// How well it holds on `rows` it was not made of, by name, each the mean over the targets that have it: "coverage-90"
/// and "width-90" of the intervals at kReportedLevel, in the target's unit; of classes the expected calibration error
/// and the mean negative log-likelihood, "ece" and "nll", and both "-uncalibrated". Only those that there are.
std::vector<std::pair<std::string, double>> calibration_results(const Calibration& calibration,
                                                                const PredictedRows& rows);

/// Expected calibration error (Naeini et al. 2015) of n probabilities of what happened (1) or did not (0): over ten
/// bins of equal width, the difference between mean probability and frequency, weighted by the bins' sizes.
double expected_calibration_error(const std::vector<double>& probabilities, const std::vector<int>& happened);

}  // namespace molgraph
