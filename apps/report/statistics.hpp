// Metrics of predictions on a set of molecules, with bootstrap intervals.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// Regression: the first six. Binary: roc_auc, pr_auc, mcc, brier, accuracy. Multiclass: mcc, brier, accuracy.
enum class Measure : std::uint8_t { mae, rmse, r2, pearson, spearman, kendall, roc_auc, pr_auc, mcc, brier, accuracy };
inline constexpr std::size_t kMeasures = 11;
std::string_view key_of(Measure measure);    ///< "mae" ... "accuracy", "roc-auc", "pr-auc": in report.json
std::string_view title_of(Measure measure);  ///< "MAE", "Spearman" ...: for people
bool larger_is_better(Measure measure);
/// The metrics of a target of the kind, which is not mixed.
const std::vector<Measure>& measures_of(TaskKind kind);
/// The metrics of all targets of the task.
std::vector<Measure> measures_of(const Task& task);

/// A value and its 95 % interval; NaN = none.
struct Estimate {
  double value, low, high;
};
using Estimates = std::array<Estimate, kMeasures>;  ///< by Measure
Estimates no_estimates();

/// The metrics on one set of molecules.
struct Measured {
  std::int64_t molecules = 0;
  std::int64_t resamples = 0;           ///< used for the intervals; 0 = no intervals
  Estimates mean = no_estimates();      ///< over the targets for which the metric is defined
  std::vector<std::int64_t> labels;     ///< [T] number of exact labels
  std::vector<std::int64_t> positives;  ///< [T] number of labels 1 of a binary target, else 0
  std::vector<Estimates> targets;       ///< [T]

  const Estimate& value_of(Measure measure) const { return mean[static_cast<std::size_t>(measure)]; }
};

struct BootstrapOptions {
  std::int64_t resamples = 1000;  ///< 0 = no intervals
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0 = all usable cores
};

/// Minimum number of molecules for an interval.
inline constexpr std::int64_t kMinIntervalMolecules = 10;
/// Maximum total number of drawn labels. More labels reduce the number of resamples; if it falls below
/// kMinResamples, there are no intervals.
inline constexpr std::int64_t kMaxDrawn = 30'000'000, kMinResamples = 100;

/// `predictions` [n, outputs] in the target's unit or as (class) probabilities, `labels` [n, T], NaN = missing. A
/// metric of a target is NaN if it has no label, if a prediction is not finite, if the labels are constant (r2 and the
/// correlations; the correlations also if the predictions are constant or there are fewer than three labels), and if
/// one class is missing (roc_auc, pr_auc, mcc). Spearman uses mid-ranks; Kendall is tau-b (Kendall 1945) in O(n log n)
/// (after Knight 1966); pr_auc is the average precision; mcc and accuracy use a probability threshold of 0.5 or, for
/// multiclass, the most likely class (Gorodkin 2004); Brier score (Brier 1950), for binary targets the mean of
/// (probability - label)^2. Intervals: the 2.5th and 97.5th percentiles over resamples of the molecules (not the
/// labels) with replacement (Efron 1979) for which the metric is defined; none if it is defined for fewer than nine
/// tenths of the resamples. Random numbers are Philox's of (seed, resample), so they depend on neither threads nor
/// machine.
Measured measure(const Task& task, const std::vector<double>& predictions, const std::vector<double>& labels,
                 const BootstrapOptions& options);

/// The percentile q (0 to 1) of sorted values, linear between neighbours. `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double q);

/// The normal distribution's 97.5th percentile.
inline constexpr double kNormal95 = 1.959963984540054;

/// The share of `hits` among `count` > 0 with its 95 % interval (Wilson 1927).
Estimate wilson(std::int64_t hits, std::int64_t count);

}  // namespace molgraph
