// What a run's own errors make of its predictions: one value of several models, probabilities at their temperature,
// intervals.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "apps/scoring/calibration.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// False for NaN and for what a float cannot hold, as tables of predictions and Python's arrays do.
inline bool is_finite_float(double value) { return std::isfinite(static_cast<float>(value)); }

/// Fills `values` and `deviation` from `members`, which one run does not keep.
void summarise_members(Prediction& prediction);

/// After that: `temperatures`: probabilities get theirs (of folds those of each member, and `values` is their mean);
/// `level` above 0: low and high are filled.
void calibrate(const Calibration& calibration, bool temperatures, double level, Prediction& prediction);

/// What a Predictor of `runs`, `models` in all, may be asked for. Throws UsageError if there are no intervals at the
/// level (above 0), FileError if the calibration is one of other models.
void check_calibration(const std::optional<Calibration>& calibration, const std::vector<std::string>& runs,
                       std::size_t models, double level);

std::vector<std::string> targets_without_interval(const Calibration& calibration, double level);

}  // namespace molgraph
