// Calibration from a run's errors: intervals for regression, temperatures for classes. Stored in calibration.json next
// to the weights.
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

/// The calibration data. `calibration`: a held-out set that was used neither for training nor for any choice; `valid`:
/// the validation set, which selected the epoch (and a blend's shares), so errors elsewhere are slightly larger;
/// `inner_folds`: out-of-fold predictions for the training and validation sets, by models that were trained like the
/// run's on the other four fifths; `folds`: in cross-validation, the test set of each fold, predicted by its own model.
enum class CalibrationPart : std::uint8_t { calibration, valid, inner_folds, folds };
std::string_view to_string(CalibrationPart part);

/// Absolute errors of n molecules in ascending order. If there are many, only some are stored, to keep the file small.
struct ErrorSample {
  std::int64_t count = 0;      ///< n
  std::vector<double> errors;  ///< [K], K <= n: entry k (from 0) is the ceil((k + 1) n / K)-th smallest of all

  /// A lower bound of the number of molecules with an error of at most `limit`.
  std::int64_t at_most(double limit) const;
};
/// `errors`: in any order, finite.
ErrorSample error_sample(std::vector<double> errors);

/// One target of the task.
struct TargetCalibration {
  std::string name;
  TaskKind kind = TaskKind::regression;
  int outputs = 1;          ///< for multiclass, the number of classes
  std::int64_t labels = 0;  ///< in the calibration data
  /// Classification: divides the log-odds (multiclass: log-probabilities), for folds those of each model.
  double temperature = 1;
  /// Regression: |label - prediction| or, if `offset` > 0, |label - prediction| / (difficulty + `offset`) (Papadopoulos
  /// et al. 2011, normalised conformity scores). The difficulty is the standard deviation over an ensemble or, for a
  /// single model, that of ProcessPredictor::predict(). One sample; for folds, one per model. Empty = no interval
  /// because of too few labels.
  std::vector<ErrorSample> errors;
  double offset = 0;

  /// True for regression with n >= level / (1 - level) labels.
  bool has_interval(double level) const;
};

struct Calibration {
  CalibrationPart part = CalibrationPart::valid;
  std::int64_t members = 1;  ///< number of models in the run
  std::vector<TargetCalibration> targets;

  /// Whether the errors of a single model are divided by the difficulty of its Gaussian process.
  bool by_difficulty() const;
};

struct Interval {
  double low = 0, high = 0;  ///< NaN = none
};

/// The interval around a target's prediction that contains the label with the probability `level`, for molecules drawn
/// in the same way as the calibration data. Split conformal prediction (Papadopoulos et al. 2002; Lei et al. 2018,
/// algorithm 2): half the width is the ceil((n + 1) level)-th smallest error. For K folds, CV+ (Barber et al. 2021,
/// equation 11), whose coverage is at least 2 level - 1 - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1)) (theorem 4)
/// and in practice `level`; `members` are then the models' own predictions, else unused. NaN if n is less than
/// level / (1 - level).
Interval interval_of(const TargetCalibration& target, double level, double value, double difficulty,
                     std::span<const double> members);

/// Applies the temperature of a classification target to its probabilities [outputs] (Guo et al. 2017, section 4.2).
/// Their order does not change.
void apply_temperature(const TargetCalibration& target, double* probabilities);
/// Applies the temperatures of all targets to a row [all outputs]; regression targets do not change.
void apply_temperatures(const Calibration& calibration, double* row);

/// Atomic. Throws FileError.
void write_calibration(const std::string& path, const Calibration& calibration);
/// Throws FileError if it is damaged or belongs to another task.
Calibration read_calibration(const std::string& path, const Task& task);

/// The calibration of a run directory; nullopt for a model file and for a run without one. Throws FileError if the
/// run's record requires one.
std::optional<Calibration> calibration_of(const std::string& run, const Task& task);

}  // namespace molgraph
