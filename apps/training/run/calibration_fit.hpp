// Computes prediction intervals and temperatures from labels and predictions of held-out molecules, and measures their
// quality.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/scoring/calibration.hpp"

namespace molgraph {

/// Minimum number of labels of a target for an interval or a temperature.
inline constexpr std::int64_t kMinCalibrationLabels = 50;
/// Level of the intervals in the results.
inline constexpr double kReportedLevel = 0.9;

/// Predictions and labels of n molecules.
struct PredictedRows {
  std::vector<double> predictions;  ///< [n, outputs], in the target's unit or as probabilities
  std::vector<double> difficulty;   ///< [n, outputs] (Difficulty); empty = none
  std::vector<double> labels;       ///< [n, T], NaN = missing
};

/// Fits intervals and temperatures. `rows` has one element, or one per fold.
///
/// A target with fewer than kMinCalibrationLabels labels, or with only one class, gets temperature 1 and no errors.
/// Without `temperatures`, all classification targets get temperature 1. The temperature, between 0.25 and 10,
/// minimises the negative log-likelihood of Platt's targets (1999, section 2.2). With them, a small set of perfectly
/// separated classes does not lead to probabilities of 0 and 1. The temperature is 1 unless the gain exceeds two
/// standard errors. The offset is the mean of `reference` [m, outputs], the difficulties of other molecules, or, if
/// this is empty, of the labelled rows.
Calibration fit_calibration(const Task& task, CalibrationPart part, const std::vector<PredictedRows>& rows,
                            bool temperatures = true, const std::vector<double>& reference = {});
/// Returns true if any target has an interval or a temperature other than 1.
bool has_effect(const Calibration& calibration);
/// Returns log lines: which targets have intervals and temperatures, and which have too few labels. `inner_folds`:
/// --out-of-fold would be possible. `classes`: include class targets.
std::vector<std::string> calibration_notes(const Calibration& calibration, bool inner_folds, bool classes = true);

/// Evaluates the calibration on `rows` that it was not fitted to. Returns values by name, each the mean over the
/// targets that have it: "coverage-90" and "width-90" of the intervals at kReportedLevel (width in the target's unit);
/// for classification, the expected calibration error "ece" and the mean negative log-likelihood "nll", and both with
/// "-uncalibrated". Values that no target has are left out.
std::vector<std::pair<std::string, double>> calibration_results(const Calibration& calibration,
                                                                const PredictedRows& rows);

/// Returns the expected calibration error (Naeini et al. 2015) of n predicted probabilities of events that happened (1)
/// or did not (0): the absolute difference between mean probability and frequency, averaged over ten bins of equal
/// width, weighted by bin size.
double expected_calibration_error(const std::vector<double>& probabilities, const std::vector<int>& outcomes);

}  // namespace molgraph
