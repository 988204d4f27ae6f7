// What a run learned of its own errors: intervals for numbers, temperatures for classes; calibration.json beside the
// weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

inline constexpr const char* kCalibrationFile = "calibration.json";

/// The molecules that a calibration rests on. `calibration`: a part that nothing was trained on or chosen by; `valid`:
/// the validation part, which chose the epoch (and a blend's shares), so that errors elsewhere are a little larger;
/// `inner_folds`: the training and validation part, each molecule as a model predicts it that was trained like the
/// run's on the other four fifths; `folds`: of cross-validation each fold's test part, as its own model predicts it.
enum class CalibrationPart : std::uint8_t { calibration, valid, inner_folds, folds };
std::string_view to_string(CalibrationPart part);

/// Absolute errors of n molecules in ascending order; of many only some, so that a file stays small.
struct ErrorSample {
  std::int64_t count = 0;      ///< n
  std::vector<double> errors;  ///< [K], K <= n: number k (from 0) is the ceil((k + 1) n / K)-th smallest of all

  /// How many of all molecules surely have an error of at most `most`.
  std::int64_t at_most(double most) const;
};
/// `errors` in any order, finite.
ErrorSample error_sample(std::vector<double> errors);

/// One target of the task.
struct TargetCalibration {
  std::string name;
  TaskKind kind = TaskKind::regression;
  int outputs = 1;          ///< of multiclass the classes
  std::int64_t labels = 0;  ///< that it rests on
  /// Of classes: log-odds (multiclass: log-probabilities) are divided by it; of folds those of each model.
  double temperature = 1;
  /// Of numbers: |label - prediction|, or |label - prediction| / (deviation over the ensemble + `offset`) where
  /// `offset` is above 0 (Papadopoulos et al. 2011, normalised conformity scores). One sample; of folds one per model.
  /// Empty = no interval: too few labels.
  std::vector<ErrorSample> errors;
  double offset = 0;

  /// Of numbers with n >= level / (1 - level) labels.
  bool has_interval(double level) const;
};

struct Calibration {
  CalibrationPart part = CalibrationPart::valid;
  std::int64_t members = 1;  ///< models of the run
  std::vector<TargetCalibration> targets;
};

struct Interval {
  double low = 0, high = 0;  ///< NaN: there is none
};

/// The interval of a target's prediction that covers the label with the probability `level`, of molecules that are
/// drawn as the part was. Split conformal prediction (Papadopoulos et al. 2002; Lei et al. 2018, algorithm 2): the
/// ceil((n + 1) level)-th smallest error on both sides. Of K folds CV+ (Barber et al. 2021, equation 11), which covers
/// at least 2 level - 1 - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1)) (theorem 4) and in practice `level`:
/// `members` are the models' own predictions, else unused. NaN where n is less than level / (1 - level).
Interval interval_of(const TargetCalibration& target, double level, double value, double deviation,
                     std::span<const double> members);

/// Probabilities [outputs] of a target of classes become those at its temperature (Guo et al. 2017, section 4.2); their
/// order stays.
void apply_temperature(const TargetCalibration& target, double* probabilities);
/// All targets of a row [all outputs]; numbers stay.
void apply_temperatures(const Calibration& calibration, double* row);

/// Atomic. Throws FileError.
void write_calibration(const std::string& path, const Calibration& calibration);
/// Throws FileError if it is damaged or not one of this task.
Calibration read_calibration(const std::string& path, const Task& task);

/// The calibration of a run directory; nothing of a model file, and of a run that has none. Throws FileError if the
/// run's record says that there must be one.
std::optional<Calibration> calibration_of(const std::string& run, const Task& task);

}  // namespace molgraph
