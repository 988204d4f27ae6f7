#include "apps/training/loop/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

Task regression(int targets) {
  Task task{TaskKind::regression, {}, {}, 0, {}};
  for (int t = 0; t < targets; ++t) task.names.push_back("t" + std::to_string(t));
  task.units.resize(task.names.size());
  return task;
}

Task binary(int targets) {
  Task task = regression(targets);
  task.kind = TaskKind::binary;
  return task;
}

TEST(Metrics, RegressionMatchesHandCalculation) {
  const std::vector<double> predictions{1, 2, 4}, targets{1, 3, 2};
  EXPECT_NEAR(evaluate_metric(Metric::mae, regression(1), predictions, targets).value, 1.0, 1e-12);
  EXPECT_NEAR(evaluate_metric(Metric::rmse, regression(1), predictions, targets).value, std::sqrt(5.0 / 3.0), 1e-12);
  EXPECT_NEAR(evaluate_metric(Metric::r2, regression(1), predictions, targets).value, 1.0 - 5.0 / 2.0, 1e-12);
}

TEST(Metrics, MissingLabelsAreLeftOutAndTargetsAreAveraged) {
  const std::vector<double> predictions{1, 10, 2, 20}, targets{2, kNoValue, 2, 23};
  const MetricResult result = evaluate_metric(Metric::mae, regression(2), predictions, targets);
  EXPECT_EQ(result.count, 3);
  ASSERT_EQ(result.per_target.size(), 2u);
  EXPECT_NEAR(result.per_target[0], 0.5, 1e-12);
  EXPECT_NEAR(result.per_target[1], 3.0, 1e-12);
  EXPECT_NEAR(result.value, 1.75, 1e-12);
}

TEST(Metrics, RocAucCountsPairsAndTies) {
  EXPECT_NEAR(roc_auc({0.1, 0.4, 0.35, 0.8}, {0, 0, 1, 1}), 0.75, 1e-12);
  EXPECT_NEAR(roc_auc({0.5, 0.5, 0.5}, {0, 1, 1}), 0.5, 1e-12);
  EXPECT_NEAR(roc_auc({0.2, 0.5, 0.5, 0.9}, {0, 0, 1, 1}), (1 + 1 + 0.5 + 1) / 4.0, 1e-12);
  EXPECT_TRUE(std::isnan(roc_auc({0.1, 0.2}, {1, 1})));
}

TEST(Metrics, AveragePrecisionMatchesHandCalculation) {
  // Sorted: 1 (P 1/1), 0, 1 (P 2/3): AP = (1 + 2/3) / 2.
  EXPECT_NEAR(average_precision({0.9, 0.8, 0.7}, {1, 0, 1}), (1.0 + 2.0 / 3.0) / 2.0, 1e-12);
  // Ties share one threshold, so P = 1/2.
  EXPECT_NEAR(average_precision({0.5, 0.5}, {1, 0}), 0.5, 1e-12);
}

TEST(Metrics, TargetsWithOneClassAreSkippedAndNamed) {
  const std::vector<double> predictions{0.1f, 0.9f, 0.8f, 0.2f}, targets{0, 1, 1, 1};
  const MetricResult result = evaluate_metric(Metric::roc_auc, binary(2), predictions, targets);
  EXPECT_NEAR(result.value, 1.0, 1e-12);
  ASSERT_EQ(result.skipped.size(), 1u);
  EXPECT_EQ(result.skipped[0], "t1");
}

// The computed mean of seven values 0.1 is not exactly 0.1. Used as a variance, the rounding error gave R2 = -8.7e28.
TEST(Metrics, R2OfAConstantTargetIsUndefinedWithAReason) {
  const std::vector<double> targets(7, 0.1), predictions{0.1, 0.2, 0.1, 0.3, 0.1, 0.0, 0.1};
  const MetricResult result = evaluate_metric(Metric::r2, regression(1), predictions, targets);
  EXPECT_TRUE(std::isnan(result.value)) << result.value;
  ASSERT_EQ(result.reasons.size(), 1u);
  EXPECT_EQ(result.reasons[0], "constant target");
  EXPECT_EQ(why_no_metric(Metric::r2, regression(1), targets), "constant target");
  EXPECT_EQ(why_no_metric(Metric::mae, regression(1), targets), "");
  EXPECT_TRUE(std::isnan(evaluate_metric(Metric::r2, regression(1), {1}, {2}).value))
      << "a single value is also constant";
}

TEST(Metrics, UndefinedMetricsHaveAReason) {
  const float missing = kNoValue, infinite = std::numeric_limits<float>::infinity();
  const auto reason = [](Metric metric, const Task& task, const std::vector<double>& predictions,
                         const std::vector<double>& targets) {
    const MetricResult result = evaluate_metric(metric, task, predictions, targets);
    EXPECT_EQ(std::isnan(result.value), !result.reasons.empty());
    return result.reasons.empty() ? "" : result.reasons[0];
  };
  for (const Metric metric : {Metric::mae, Metric::rmse, Metric::r2}) {
    EXPECT_EQ(reason(metric, regression(1), {1, 2}, {missing, missing}), "no value");
    EXPECT_EQ(reason(metric, regression(1), {1, infinite}, {1, 2}), "a prediction is not finite");
  }
  for (const Metric metric : {Metric::roc_auc, Metric::ap}) {
    EXPECT_EQ(reason(metric, binary(1), {0.1f, 0.2f}, {0, 0}), "one class only");
    EXPECT_EQ(reason(metric, binary(1), {0.1f, 0.2f}, {1, 1}), "one class only");
    EXPECT_EQ(reason(metric, binary(1), {missing, 0.2f}, {1, 0}), "a prediction is not finite")
        << "and the call returns";
  }
  EXPECT_EQ(reason(Metric::accuracy, binary(1), {0.1f, 0.2f}, {0, 0}), "") << "accuracy needs no second class";
  EXPECT_EQ(reason(Metric::accuracy, binary(1), {missing}, {0}), "a prediction is not finite");
  const Task task{TaskKind::multiclass, {"phase"}, {""}, 2, {"a", "b"}};
  EXPECT_EQ(reason(Metric::accuracy, task, {missing, missing}, {0}), "a prediction is not finite");
  EXPECT_EQ(why_no_metric(Metric::roc_auc, binary(1), {}), "no value");
}

TEST(Metrics, MulticlassAccuracyUsesTheLargestProbability) {
  Task task{TaskKind::multiclass, {"phase"}, {""}, 3, {"a", "b", "c"}};
  const std::vector<double> predictions{0.1f, 0.7f, 0.2f, 0.5f, 0.3f, 0.2f}, targets{1, 2};
  EXPECT_NEAR(evaluate_metric(Metric::accuracy, task, predictions, targets).value, 0.5, 1e-12);
}

TEST(Metrics, RejectsMetricsThatDoNotFitTheTask) {
  EXPECT_THROW(check_metric(Metric::roc_auc, TaskKind::regression), UsageError);
  EXPECT_THROW(check_metric(Metric::mae, TaskKind::binary), UsageError);
  EXPECT_THROW(metric_from_string("auroc"), UsageError);
  EXPECT_NO_THROW(check_metric(Metric::ap, TaskKind::binary));
}

TEST(Metrics, MixedTasksUseTheTargetsThatTheMetricFits) {
  Task task = regression(3);
  task.set_kinds({TaskKind::regression, TaskKind::binary, TaskKind::regression});
  const std::vector<double> predictions{1, 0.9, 5, 2, 0.2, 7}, targets{2, 1, 5, 2, 0, 4};
  const MetricResult mae = evaluate_metric(Metric::mae, task, predictions, targets);
  EXPECT_NEAR(mae.value, (0.5 + 1.5) / 2, 1e-12);
  EXPECT_TRUE(std::isnan(mae.per_target[1]) && mae.skipped.empty());
  EXPECT_EQ(mae.count, 4);
  EXPECT_EQ(evaluate_metric(Metric::roc_auc, task, predictions, targets).value, 1.0);
  EXPECT_EQ(default_metric(TaskKind::mixed), Metric::loss);
  for (const Metric metric :
       {Metric::loss, Metric::mae, Metric::rmse, Metric::r2, Metric::roc_auc, Metric::ap, Metric::accuracy})
    EXPECT_NO_THROW(check_metric(metric, TaskKind::mixed));
  EXPECT_THROW(check_metric(Metric::loss, TaskKind::regression), UsageError);
  EXPECT_FALSE(larger_is_better(Metric::loss));
}

}  // namespace
}  // namespace molgraph
