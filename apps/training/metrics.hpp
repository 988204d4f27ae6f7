// Metrics over whole data sets, by the rules of the Open Graph Benchmark's evaluator. Missing targets are NaN.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// loss: of mixed tasks, the mean over the targets of their mean losses (loss_of_predictions() in loss.hpp).
enum class Metric : std::uint8_t { mae, rmse, r2, roc_auc, ap, accuracy, loss };
std::string_view to_string(Metric metric);           ///< "mae", "rmse", "r2", "roc-auc", "ap", "accuracy", "loss"
Metric metric_from_string(const std::string& text);  ///< throws UsageError with the list
bool larger_is_better(Metric metric);
/// The metric of a task where nobody names one: mae, roc-auc, accuracy, loss.
Metric default_metric(TaskKind kind);
/// Throws UsageError if the metric means nothing for the task.
void check_metric(Metric metric, TaskKind kind);
/// True if the metric is one of targets of that kind, which is not mixed.
bool fits(Metric metric, TaskKind kind);

/// Result over T targets: the mean over those that could be computed.
struct MetricResult {
  double value = 0;                  ///< NaN if no target could be computed
  std::int64_t count = 0;            ///< targets present (cells, not molecules)
  std::vector<double> per_target;    ///< [T], NaN where skipped
  std::vector<std::string> skipped;  ///< names of targets for which it means nothing
  std::vector<std::string> reasons;  ///< [skipped] "no value", "one class only", "constant target" ...; no commas
};

/// `predictions` [n, outputs] in the target's unit, probabilities, or class probabilities; `targets` [n, T].
/// Of a mixed task it is that of the targets that it fits. `metric` is not loss.
/// A target is skipped without any value, without both classes (roc-auc, ap), where it is constant (r2), and where a
/// prediction is not finite.
MetricResult evaluate_metric(Metric metric, const Task& task, const std::vector<double>& predictions,
                             const std::vector<double>& targets);

/// Why these targets [n, T] give no such metric, whatever the (finite) predictions; "" if they give one.
std::string why_no_metric(Metric metric, const Task& task, const std::vector<double>& targets);

/// Area under the ROC curve by ranks, ties count half. NaN without both classes. Scores must be finite,
/// as for the next.
double roc_auc(const std::vector<double>& scores, const std::vector<int>& labels);
/// Average precision: sum over thresholds of (R_k - R_(k-1)) P_k, tied scores form one threshold. NaN without
/// positives.
double average_precision(const std::vector<double>& scores, const std::vector<int>& labels);

}  // namespace molgraph
