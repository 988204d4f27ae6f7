// Summarises the predictions of several models and applies a run's calibration: temperatures and intervals.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/calibration.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// False for NaN and for values outside the range of a float, the type of prediction tables and Python arrays.
inline bool is_finite_float(double value) { return std::isfinite(static_cast<float>(value)); }

/// Fills `values` and `deviation` from `members`. For a single run, moves its values and clears `members`.
void summarise_members(Prediction& prediction);

/// To be called after summarise_members(). If `temperatures`, applies the temperatures to the probabilities (for folds,
/// to those of each member, whose mean is then `values`). If `level` > 0, fills low and high. `difficulty` [outputs]
/// (see TargetCalibration::errors) of a single model; empty = the standard deviation over the ensemble, if there is
/// one.
void calibrate(const Calibration& calibration, bool temperatures, double level, std::span<const double> difficulty,
               Prediction& prediction);

/// To be called last. Converts the results for logarithmic targets from log10 to the unit of the table. The value of an
/// ensemble is then the geometric mean of its members; its deviation is computed again from the converted members.
void convert_to_table_unit(const Task& task, Prediction& prediction);

/// Throws FileError if the calibration of `runs`, which have `models` models in total, belongs to another number of
/// models.
void check_calibration(const std::optional<Calibration>& calibration, const std::vector<std::string>& runs,
                       std::size_t models);
/// Throws FileError if the calibration of `runs` requires a Gaussian process and the run has none.
void check_difficulty(const std::optional<Calibration>& calibration, const std::vector<std::string>& runs,
                      bool has_process);
/// Throws UsageError if the level is neither 0 (no interval) nor from 0.5 to below 1, or if no target of `runs` has an
/// interval at this level.
void check_interval(const std::optional<Calibration>& calibration, const Task& task,
                    const std::vector<std::string>& runs, double level);

std::vector<std::string> targets_without_interval(const Calibration& calibration, double level);

}  // namespace molgraph
