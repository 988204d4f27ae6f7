// How good predictions are, and how sure that is: measures of a part of the data with bootstrap intervals.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// Of numbers: the first six. Of two classes: roc_auc, pr_auc, mcc, brier, accuracy. Of more classes: mcc, brier,
/// accuracy.
enum class Measure : std::uint8_t { mae, rmse, r2, pearson, spearman, kendall, roc_auc, pr_auc, mcc, brier, accuracy };
inline constexpr std::size_t kMeasures = 11;
std::string_view key_of(Measure measure);    ///< "mae" ... "accuracy", "roc-auc", "pr-auc": in report.json
std::string_view title_of(Measure measure);  ///< "MAE", "Spearman" ...: for people
bool is_better_larger(Measure measure);
/// Those of a target of the kind, which is not mixed.
const std::vector<Measure>& measures_of(TaskKind kind);
/// Those of any target of the task.
std::vector<Measure> measures_of(const Task& task);

/// A value and its 95 % interval; NaN = there is none.
struct Estimate {
  double value, low, high;
};
using Estimates = std::array<Estimate, kMeasures>;  ///< by Measure
Estimates no_estimates();

/// What was found of the molecules of one part.
struct Measured {
  std::int64_t molecules = 0;
  std::int64_t resamples = 0;           ///< behind the intervals; 0 = none were made
  Estimates mean = no_estimates();      ///< over the targets that have the measure
  std::vector<std::int64_t> labels;     ///< [T] exact ones
  std::vector<std::int64_t> positives;  ///< [T] of two classes, else 0
  std::vector<Estimates> targets;       ///< [T]
};

struct BootstrapOptions {
  std::int64_t resamples = 1000;  ///< 0 = no intervals
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0 = all usable cores
};

/// Fewer molecules give no interval: a resample of so few says little.
inline constexpr std::int64_t kFewestResampled = 10;
/// Labels that are drawn in all, at most: with more of them fewer resamples are made, and with fewer than
/// kFewestResamples none.
inline constexpr std::int64_t kMostDrawn = 30'000'000, kFewestResamples = 100;

/// `predictions` [n, outputs] in the target's unit or as (class) probabilities, `labels` [n, T], NaN = missing.
/// A measure of a target is NaN without a label, where a prediction is not finite, where labels are constant (r2 and
/// the correlations; these also where predictions are), and where one class is missing (roc_auc, pr_auc, mcc).
/// Spearman by mid-ranks, Kendall's tau-b (Kendall 1945) in n log n (after Knight 1966), pr_auc as average precision;
/// mcc and accuracy at a probability of one half, of more classes of the likeliest (Gorodkin 2004); Brier 1950, of two
/// classes the mean of (probability - label)^2.
/// Intervals: molecules, not labels, are drawn with replacement (Efron 1979), the 2.5th and the 97.5th percentile of
/// the resamples that have the measure; none where fewer than nine of ten have it. Random numbers are Philox's of
/// (seed, resample): they depend on neither threads nor machine.
Measured measure(const Task& task, const std::vector<double>& predictions, const std::vector<double>& labels,
                 const BootstrapOptions& options);

/// The percentile q (0 to 1) of sorted values, linear between neighbours. `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double q);

/// The normal distribution's 97.5th percentile.
inline constexpr double kNormal95 = 1.959963984540054;

/// A share's 95 % interval (Wilson 1927) of `hits` among `count` > 0.
Estimate wilson(std::int64_t hits, std::int64_t count);

}  // namespace molgraph
