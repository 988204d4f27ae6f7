// Metrics over whole data sets, with the rules of the Open Graph Benchmark's evaluator. Missing targets are NaN.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// `loss`: for mixed tasks, the mean over the targets of their mean losses (loss_of_predictions() in loss.hpp).
enum class Metric : std::uint8_t { mae, rmse, r2, roc_auc, ap, accuracy, loss };
std::string_view to_string(Metric metric);           ///< "mae", "rmse", "r2", "roc-auc", "ap", "accuracy", "loss"
Metric metric_from_string(const std::string& text);  ///< throws UsageError with the list of metrics
bool larger_is_better(Metric metric);
/// Returns the default metric of a task: mae, roc-auc, accuracy or loss.
Metric default_metric(TaskKind kind);
/// Throws UsageError if the metric does not apply to the task.
void check_metric(Metric metric, TaskKind kind);
/// Returns true if the metric applies to targets of that kind. `kind` is not mixed.
bool fits(Metric metric, TaskKind kind);

/// Metric over T targets: the mean over those for which it is defined.
struct MetricResult {
  double value = 0;                  ///< NaN if it is defined for no target
  std::int64_t count = 0;            ///< number of labels (cells, not molecules)
  std::vector<double> per_target;    ///< [T], NaN where skipped
  std::vector<std::string> skipped;  ///< names of targets for which it is undefined
  std::vector<std::string> reasons;  ///< [skipped] "no value", "one class only", "constant target" ...; no commas
};

/// Computes a metric other than `loss`. `predictions` [n, outputs] are in the target's unit, probabilities or class
/// probabilities; `targets` is [n, T]. In a mixed task, only the targets to which the metric applies count. A target is
/// skipped if it has no labels, only one class (roc-auc, ap), a constant value (r2) or a prediction that is not finite.
MetricResult evaluate_metric(Metric metric, const Task& task, const std::vector<double>& predictions,
                             const std::vector<double>& targets);

/// Returns the reason why the metric is undefined for these targets [n, T] with any finite predictions; "" if it is
/// defined.
std::string why_no_metric(Metric metric, const Task& task, const std::vector<double>& targets);

/// Returns the area under the ROC curve, computed from ranks; ties count half. NaN unless both classes occur. Scores
/// must be finite.
double roc_auc(const std::vector<double>& scores, const std::vector<int>& labels);
/// Returns the average precision: the sum over thresholds of (R_k - R_(k-1)) P_k; tied scores form one threshold. NaN
/// if there are no positives. Scores must be finite.
double average_precision(const std::vector<double>& scores, const std::vector<int>& labels);

}  // namespace molgraph
