#include "apps/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/report/target_measures.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/philox.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t kBootstrapStream = 0x626F6F74;  ///< separates these draws from all others with the same seed
constexpr std::int64_t kTargetWork = 50;                ///< cost of storing a target's values, as a number of labels
constexpr double kMaxUndefinedFraction = 0.1;  ///< maximum fraction of resamples for which a metric is undefined

struct MeasureInfo {
  Measure measure;
  std::string_view key, title;
  bool larger;
};
constexpr std::array<MeasureInfo, kMeasures> kMeasureInfo{{{Measure::mae, "mae", "MAE", false},
                                                           {Measure::rmse, "rmse", "RMSE", false},
                                                           {Measure::r2, "r2", "R2", true},
                                                           {Measure::pearson, "pearson", "Pearson", true},
                                                           {Measure::spearman, "spearman", "Spearman", true},
                                                           {Measure::kendall, "kendall", "Kendall", true},
                                                           {Measure::roc_auc, "roc-auc", "ROC-AUC", true},
                                                           {Measure::pr_auc, "pr-auc", "PR-AUC", true},
                                                           {Measure::mcc, "mcc", "MCC", true},
                                                           {Measure::brier, "brier", "Brier", false},
                                                           {Measure::accuracy, "accuracy", "Accuracy", true}}};

/// Draws how often resample `resample` contains each of n molecules.
void draw(std::uint64_t seed, std::int64_t resample, std::vector<std::uint32_t>& weight) {
  std::fill(weight.begin(), weight.end(), 0U);
  const auto n = static_cast<std::uint64_t>(weight.size());
  const std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (std::uint64_t i = 0; i < n; i += 4) {
    const std::uint32_t counter[4] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32),
                                      static_cast<std::uint32_t>(resample), kBootstrapStream};
    std::uint32_t word[4];
    philox4x32_10(word, counter, key);
    for (std::uint64_t k = 0; k < std::min<std::uint64_t>(4, n - i); ++k) ++weight[(word[k] * n) >> 32];
  }
}

MeasureValues mean_of(const MeasureValues* targets, std::size_t count) {
  MeasureValues mean;
  for (std::size_t m = 0; m < kMeasures; ++m) {
    double sum = 0;
    std::size_t present = 0;
    for (std::size_t t = 0; t < count; ++t) {
      if (std::isnan(targets[t][m])) continue;
      sum += targets[t][m];
      ++present;
    }
    mean[m] = present > 0 ? sum / static_cast<double>(present) : kNaN;
  }
  return mean;
}

/// Sets the interval to the middle 95 % of the resamples' values.
void set_interval(std::vector<double>& found, Estimate& estimate) {
  const std::size_t all = found.size();
  std::erase_if(found, [](double value) { return std::isnan(value); });
  if (found.empty() || static_cast<double>(all - found.size()) > kMaxUndefinedFraction * static_cast<double>(all))
    return;
  std::sort(found.begin(), found.end());
  estimate.low = percentile(found, 0.025);
  estimate.high = percentile(found, 0.975);
}

}  // namespace

std::string_view key_of(Measure measure) { return kMeasureInfo[static_cast<std::size_t>(measure)].key; }
std::string_view title_of(Measure measure) { return kMeasureInfo[static_cast<std::size_t>(measure)].title; }
bool larger_is_better(Measure measure) { return kMeasureInfo[static_cast<std::size_t>(measure)].larger; }

const std::vector<Measure>& measures_of(TaskKind kind) {
  static const std::vector<Measure> regression{Measure::mae,     Measure::rmse,     Measure::r2,
                                               Measure::pearson, Measure::spearman, Measure::kendall};
  static const std::vector<Measure> binary{Measure::roc_auc, Measure::pr_auc, Measure::mcc, Measure::brier,
                                           Measure::accuracy};
  static const std::vector<Measure> multiclass{Measure::accuracy, Measure::mcc, Measure::brier};
  return kind == TaskKind::regression ? regression : kind == TaskKind::binary ? binary : multiclass;
}

std::vector<Measure> measures_of(const Task& task) {
  std::vector<Measure> measures;
  for (const TaskKind kind : {TaskKind::regression, TaskKind::binary, TaskKind::multiclass})
    if (task.has(kind)) measures.insert(measures.end(), measures_of(kind).begin(), measures_of(kind).end());
  return measures;
}

Estimates no_estimates() {
  Estimates none;
  none.fill({kNaN, kNaN, kNaN});
  return none;
}

double percentile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Estimate wilson(std::int64_t hits, std::int64_t count) {
  constexpr double z = kNormal95;
  const double n = static_cast<double>(count), share = static_cast<double>(hits) / n;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {share, std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

Measured measure(const Task& task, const std::vector<double>& predictions, const std::vector<double>& labels,
                 const BootstrapOptions& options) {
  const std::size_t targets = task.names.size(), molecules = targets > 0 ? labels.size() / targets : 0;
  Measured found;
  found.molecules = static_cast<std::int64_t>(molecules);
  std::vector<TargetMeasures> target_measures;
  std::int64_t all_labels = 0;
  for (std::size_t t = 0; t < targets; ++t) {
    target_measures.emplace_back(task, t, predictions, labels);
    found.labels.push_back(target_measures.back().labels());
    found.positives.push_back(target_measures.back().positives());
    all_labels += found.labels.back();
  }
  const auto evaluate = [&](const std::vector<std::uint32_t>& weight, TargetMeasures::Scratch& scratch,
                            MeasureValues* values) {
    for (std::size_t t = 0; t < targets; ++t) values[t] = target_measures[t].evaluate(weight.data(), scratch);
    values[targets] = mean_of(values, targets);
  };
  TargetMeasures::Scratch scratch;
  std::vector<MeasureValues> point_estimates(targets + 1);
  evaluate(std::vector<std::uint32_t>(molecules, 1), scratch, point_estimates.data());
  found.targets.assign(targets, no_estimates());
  const auto estimate_of = [&](std::size_t t) -> Estimates& { return t < targets ? found.targets[t] : found.mean; };
  for (std::size_t t = 0; t <= targets; ++t)
    for (std::size_t m = 0; m < kMeasures; ++m) estimate_of(t)[m].value = point_estimates[t][m];

  const std::int64_t work = std::max<std::int64_t>({all_labels, kTargetWork * static_cast<std::int64_t>(targets), 1});
  std::int64_t resamples = std::min(options.resamples, kMaxDrawn / work);
  if (resamples < std::min(options.resamples, kMinResamples) || found.molecules < kMinIntervalMolecules) resamples = 0;
  found.resamples = resamples;
  if (resamples == 0) return found;
  std::vector<MeasureValues> drawn(static_cast<std::size_t>(resamples) * (targets + 1));
  parallel_for(resamples, 8, options.threads, [&](std::int64_t begin, std::int64_t end) {
    TargetMeasures::Scratch thread_scratch;
    std::vector<std::uint32_t> weight(molecules);
    for (std::int64_t r = begin; r < end; ++r) {
      draw(options.seed, r, weight);
      evaluate(weight, thread_scratch, drawn.data() + static_cast<std::size_t>(r) * (targets + 1));
    }
  });
  std::vector<double> values;
  for (std::size_t t = 0; t <= targets; ++t)
    for (std::size_t m = 0; m < kMeasures; ++m) {
      if (std::isnan(point_estimates[t][m])) continue;
      values.clear();
      for (std::int64_t r = 0; r < resamples; ++r)
        values.push_back(drawn[static_cast<std::size_t>(r) * (targets + 1) + t][m]);
      set_interval(values, estimate_of(t)[m]);
    }
  return found;
}

}  // namespace molgraph
