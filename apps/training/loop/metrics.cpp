#include "apps/training/loop/metrics.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<std::pair<Metric, std::string_view>, 7> kNames{{{Metric::mae, "mae"},
                                                                     {Metric::rmse, "rmse"},
                                                                     {Metric::r2, "r2"},
                                                                     {Metric::roc_auc, "roc-auc"},
                                                                     {Metric::ap, "ap"},
                                                                     {Metric::accuracy, "accuracy"},
                                                                     {Metric::loss, "loss"}}};

/// Labels of one target and their predictions.
struct Column {
  std::vector<double> prediction;
  std::vector<double> target;
};

/// A metric, or the reason why it is undefined.
struct Outcome {
  double value = kNaN;
  std::string reason{};
};

Outcome regression_metric(Metric metric, const Column& c) {
  const double n = static_cast<double>(c.target.size());
  double absolute = 0, squared = 0, sum = 0, spread = 0;
  for (std::size_t i = 0; i < c.target.size(); ++i) {
    const double error = c.prediction[i] - c.target[i];
    absolute += std::abs(error);
    squared += error * error;
    sum += c.target[i];
  }
  if (metric == Metric::mae) return {absolute / n};
  if (metric == Metric::rmse) return {std::sqrt(squared / n)};
  const auto [lowest, highest] = std::ranges::minmax(c.target);
  for (double t : c.target) spread += (t - sum / n) * (t - sum / n);
  if (lowest == highest || spread == 0) return {kNaN, "constant target"};  // its variance would be a rounding error
  return {1.0 - squared / spread};
}

Outcome binary_metric(Metric metric, const Column& c) {
  std::vector<int> labels;
  for (double t : c.target) labels.push_back(t > 0.5 ? 1 : 0);
  if (metric != Metric::accuracy) {
    // OGB skips a task that has only one class, for both metrics.
    const auto positives = std::accumulate(labels.begin(), labels.end(), std::int64_t{0});
    if (positives == 0 || positives == static_cast<std::int64_t>(labels.size())) return {kNaN, "one class only"};
    return {metric == Metric::roc_auc ? roc_auc(c.prediction, labels) : average_precision(c.prediction, labels)};
  }
  double correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) correct += (c.prediction[i] > 0.5 ? 1 : 0) == labels[i];
  return {correct / static_cast<double>(labels.size())};
}

Outcome multiclass_accuracy(const Column& c) {
  double correct = 0;
  for (std::size_t i = 0; i < c.target.size(); ++i) correct += c.prediction[i] == c.target[i];
  return {correct / static_cast<double>(c.target.size())};
}

Outcome outcome_of(Metric metric, TaskKind kind, const Column& column) {
  if (column.target.empty()) return {kNaN, "no value"};
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(column.prediction, finite)) return {kNaN, "a prediction is not finite"};
  if (kind == TaskKind::regression) return regression_metric(metric, column);
  return kind == TaskKind::binary ? binary_metric(metric, column) : multiclass_accuracy(column);
}

/// Returns indices in descending order of score.
std::vector<std::size_t> by_descending_score(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  return order;
}

}  // namespace

std::string_view to_string(Metric metric) {
  for (const auto& [value, name] : kNames) {
    if (value == metric) return name;
  }
  assert(false);
  return "";
}

Metric metric_from_string(const std::string& text) {
  for (const auto& [value, name] : kNames) {
    if (name == text) return value;
  }
  throw UsageError("unknown metric '" + text + "'; the metrics are mae, rmse, r2, roc-auc, ap, accuracy, loss");
}

bool larger_is_better(Metric metric) {
  return metric != Metric::mae && metric != Metric::rmse && metric != Metric::loss;
}

Metric default_metric(TaskKind kind) {
  if (kind == TaskKind::regression) return Metric::mae;
  if (kind == TaskKind::mixed) return Metric::loss;
  return kind == TaskKind::binary ? Metric::roc_auc : Metric::accuracy;
}

bool fits(Metric metric, TaskKind kind) {
  const bool regression = metric == Metric::mae || metric == Metric::rmse || metric == Metric::r2;
  if (metric == Metric::loss || kind == TaskKind::mixed) return false;
  return kind == TaskKind::regression ? regression
         : kind == TaskKind::binary   ? !regression
                                      : metric == Metric::accuracy;
}

void check_metric(Metric metric, TaskKind kind) {
  const bool mixed = kind == TaskKind::mixed &&
                     (metric == Metric::loss || fits(metric, TaskKind::regression) || fits(metric, TaskKind::binary));
  if (!mixed && !fits(metric, kind)) {
    throw UsageError("the metric " + std::string(to_string(metric)) + " does not apply to " +
                     std::string(to_string(kind)) + " tasks");
  }
}

double roc_auc(const std::vector<double>& scores, const std::vector<int>& labels) {
  // Start from the highest score. Each negative counts the positives above it and half of those tied with it.
  const auto order = by_descending_score(scores);
  double positives = 0, negatives = 0, above = 0;
  for (std::size_t start = 0; start < order.size();) {
    std::size_t end = start;
    double tied_positives = 0, tied_negatives = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[start]]; ++end) {
      (labels[order[end]] ? tied_positives : tied_negatives) += 1;
    }
    above += tied_negatives * (positives + 0.5 * tied_positives);
    positives += tied_positives;
    negatives += tied_negatives;
    start = end;
  }
  return positives > 0 && negatives > 0 ? above / (positives * negatives) : kNaN;
}

double average_precision(const std::vector<double>& scores, const std::vector<int>& labels) {
  const auto order = by_descending_score(scores);
  const double positives = static_cast<double>(std::accumulate(labels.begin(), labels.end(), std::int64_t{0}));
  if (positives == 0) return kNaN;
  double found = 0, sum = 0;
  for (std::size_t start = 0; start < order.size();) {
    std::size_t end = start;
    double tied = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[start]]; ++end) tied += labels[order[end]];
    found += tied;
    sum += tied / positives * (found / static_cast<double>(end));
    start = end;
  }
  return sum;
}

MetricResult evaluate_metric(Metric metric, const Task& task, const std::vector<double>& predictions,
                             const std::vector<double>& targets) {
  const std::size_t num_targets = task.names.size();
  const std::size_t outputs = static_cast<std::size_t>(task.num_outputs());
  const std::size_t n = targets.size() / num_targets;
  assert(predictions.size() == n * outputs);
  MetricResult result;
  double sum = 0;
  int computed = 0;
  for (std::size_t t = 0; t < num_targets; ++t) {
    if (task.kind == TaskKind::mixed && !fits(metric, task.kind_of(t))) {
      result.per_target.push_back(kNaN);
      continue;
    }
    Column column;
    for (std::size_t i = 0; i < n; ++i) {
      const double target = targets[i * num_targets + t];
      if (std::isnan(target)) continue;
      const double* row = predictions.data() + i * outputs;
      double value = row[t];
      if (task.kind == TaskKind::multiclass) {
        const double* first = row + t * static_cast<std::size_t>(task.classes);
        const bool finite = std::all_of(first, first + task.classes, [](double p) { return std::isfinite(p); });
        value = finite ? static_cast<double>(std::max_element(first, first + task.classes) - first) : kNaN;
      }
      column.prediction.push_back(value);
      column.target.push_back(target);
    }
    const Outcome outcome = outcome_of(metric, task.kind_of(t), column);
    result.count += static_cast<std::int64_t>(column.target.size());
    result.per_target.push_back(outcome.value);
    if (std::isnan(outcome.value)) {
      result.skipped.push_back(task.names[t]);
      result.reasons.push_back(outcome.reason);
    } else {
      sum += outcome.value;
      ++computed;
    }
  }
  result.value = computed ? sum / computed : kNaN;
  return result;
}

std::string why_no_metric(Metric metric, const Task& task, const std::vector<double>& targets) {
  if (metric == Metric::loss)
    return std::ranges::all_of(targets, [](double target) { return std::isnan(target); }) ? "no value" : "";
  const std::size_t rows = targets.size() / task.names.size();
  const std::vector<double> zeros(rows * static_cast<std::size_t>(task.num_outputs()));
  const MetricResult result = evaluate_metric(metric, task, zeros, targets);
  return std::isnan(result.value) ? result.reasons.front() : std::string();
}

}  // namespace molgraph
