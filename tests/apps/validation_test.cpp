#include "apps/training/loop/validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace molgraph {
namespace {

constexpr float kNoLabel = std::numeric_limits<float>::quiet_NaN();

Task task_of(TaskKind kind, int classes = 0) { return {kind, {"y"}, {""}, classes, {}}; }

TEST(Validation, UsesTheMetricIfItIsDefined) {
  const Task task = task_of(TaskKind::binary);
  const Validation by_metric(Metric::roc_auc, Loss::bce, task, {0, 1, 1}, {1});
  EXPECT_TRUE(by_metric.possible());
  EXPECT_EQ(by_metric.name(), "roc-auc");
  EXPECT_EQ(by_metric.warning(), "");
  EXPECT_EQ(by_metric.value({0.1f, 0.9f, 0.8f}), 1.0);
  EXPECT_TRUE(by_metric.better(0.9, 0.8));
}

TEST(Validation, UsesTheLossIfTheMetricIsUndefined) {
  const Task task = task_of(TaskKind::binary);
  const Validation by_loss(Metric::roc_auc, Loss::bce, task, {0, 0, kNoLabel}, {1});
  EXPECT_TRUE(by_loss.possible() && by_loss.by_loss());
  EXPECT_EQ(by_loss.name(), "loss");
  EXPECT_EQ(by_loss.columns(), "valid_roc-auc,valid_loss");
  EXPECT_NE(by_loss.warning().find("no roc-auc (one class only)"), std::string::npos) << by_loss.warning();
  EXPECT_NEAR(by_loss.value({0.1f, 0.5f, 0.9f}), -(std::log(0.9) + std::log(0.5)) / 2, 1e-6);
  EXPECT_TRUE(std::isfinite(by_loss.value({1.0f, 1.0f, 0.0f})))
      << "a confident wrong prediction has a large but finite loss";
  EXPECT_TRUE(by_loss.better(0.1, 0.2)) << "a smaller loss is better; of roc-auc, a larger value is";
  EXPECT_FALSE(Validation(Metric::roc_auc, Loss::bce, task, {kNoLabel}, {1}).possible());
  EXPECT_FALSE(Validation(Metric::roc_auc, Loss::bce, task, {}, {1}).possible());
}

TEST(Validation, ErrorsOfSeveralTargetsAreDividedByTheirScales) {
  const Task two{TaskKind::regression, {"logD", "clearance"}, {"", ""}, 0, {}};
  const std::vector<double> targets{1, 100, 2, kNoLabel, kNoLabel, 300}, scale{0.5, 200};
  const std::vector<double> predictions{1.25, 120, 1.5, 7, 9, 260};  // differences 0.25, -0.5 and 20, -40
  const Validation mae(Metric::mae, Loss::l1, two, targets, scale);
  EXPECT_EQ(mae.name(), "relative-mae");
  EXPECT_EQ(mae.columns(), "valid_relative-mae");
  EXPECT_NEAR(mae.value(predictions), (0.375 / 0.5 + 30.0 / 200) / 2, 1e-12);
  EXPECT_TRUE(mae.better(0.1, 0.2));
  const Validation rmse(Metric::rmse, Loss::mse, two, targets, scale);
  EXPECT_EQ(rmse.name(), "relative-rmse");
  EXPECT_NEAR(rmse.value(predictions), (std::sqrt(0.3125 / 2) / 0.5 + std::sqrt(1000.0) / 200) / 2, 1e-12);
  EXPECT_TRUE(std::isnan(rmse.value({1, NAN, 2, NAN, 3, NAN}))) << "a target that diverges is not left out";

  const Validation one(Metric::mae, Loss::l1, two, {1, kNoLabel, 2, kNoLabel}, scale);
  EXPECT_EQ(one.name(), "mae") << "the other target has no labels, for example because it is auxiliary";
  EXPECT_NEAR(one.value({1.25, 7, 1.5, 7}), 0.375, 1e-12);
  Task mixed = two;
  mixed.set_kinds({TaskKind::regression, TaskKind::binary});
  EXPECT_EQ(Validation(Metric::mae, Losses(Loss::l1, mixed), mixed, {1, 0, 2, 1}, scale).name(), "mae");
  Task three{TaskKind::regression, {"logD", "toxic", "clearance"}, {"", "", ""}, 0, {}};
  three.set_kinds({TaskKind::regression, TaskKind::binary, TaskKind::regression});
  const Validation numbers(Metric::mae, Losses(Loss::l1, three), three, {1, 0, 100, 2, 1, 300}, {0.5, 1, 200});
  EXPECT_EQ(numbers.name(), "relative-mae");
  EXPECT_NEAR(numbers.value({1.25, 0.9, 120, 1.5, 0.9, 260}), (0.375 / 0.5 + 30.0 / 200) / 2, 1e-12);
  EXPECT_EQ(Validation(Metric::mae, Loss::l1, two, targets, {1, 1}).name(), "mae") << "of --no-scale-targets";
  EXPECT_EQ(Validation(Metric::r2, Loss::mse, two, {1, 100, 2, 200}, scale).name(), "r2") << "R2 has no unit";
}

TEST(Validation, LossesMatchHandCalculations) {
  const Task numbers = task_of(TaskKind::regression), classes = task_of(TaskKind::multiclass, 3);
  const std::vector<double> targets{1, 5, kNoLabel}, predictions{2, 11, 7}, scale{2};  // differences 0.5 and 3
  EXPECT_NEAR(loss_of_predictions(Loss::l1, numbers, predictions, targets, scale), 1.75, 1e-12);
  EXPECT_NEAR(loss_of_predictions(Loss::mse, numbers, predictions, targets, scale), (0.25 + 9) / 2, 1e-12);
  EXPECT_NEAR(loss_of_predictions(Loss::huber, numbers, predictions, targets, scale), (0.125 + 2.5) / 2, 1e-12);
  EXPECT_NEAR(loss_of_predictions(Loss::ce, classes, {0.2f, 0.3f, 0.5f, 0.6f, 0.3f, 0.1f}, {2, 0}, {1, 1, 1}),
              -(std::log(0.5) + std::log(0.6)) / 2, 1e-6);
  EXPECT_TRUE(std::isnan(loss_of_predictions(Loss::l1, numbers, {1}, {kNoLabel}, scale)));
  const Validation constant(Metric::r2, Loss::l1, numbers, {0.1f, 0.1f}, {1});
  EXPECT_TRUE(constant.by_loss()) << "r2 of a constant target is undefined";
}

TEST(Validation, TargetWeightsGiveAWeightedMeanOverLabels) {
  Task task{TaskKind::regression, {"y", "c"}, {"", ""}, 0, {}};
  task.set_kinds({TaskKind::regression, TaskKind::binary});
  const Losses losses(Loss::mse, task);
  const std::vector<double> targets{1, 1, 5, kNoLabel, 3, kNoLabel}, predictions{2, 0.8, 11, 0.5, 3, 0.1}, scale{2, 1};
  // The squares of 0.5, 3 and 0 have weight 2 each, the one class label has weight 10: the weights sum to 16.
  const double expected = (2 * (0.25 + 9) - 10 * std::log(0.8)) / 16;
  EXPECT_NEAR(loss_of_predictions(losses, task, predictions, targets, scale, {2, 10}), expected, 1e-12);
  EXPECT_NEAR(Validation(Metric::loss, losses, task, targets, scale, {2, 10}).value(predictions), expected, 1e-12);
}

TEST(Validation, MixedTaskUsesTheMeanLossOfItsTargets) {
  Task task{TaskKind::regression, {"y", "c"}, {"", ""}, 0, {}};
  task.set_kinds({TaskKind::regression, TaskKind::binary});
  const Losses losses(Loss::mse, task);
  EXPECT_EQ(losses.of(0), Loss::mse);
  EXPECT_EQ(losses.of(1), Loss::bce);
  const std::vector<double> targets{1, 1, 5, kNoLabel, 3, kNoLabel}, predictions{2, 0.8, 11, 0.5, 3, 0.1}, scale{2, 1};
  // The mean of the squares of 0.5, 3 and 0, and the loss of one class label.
  const double expected = ((0.25 + 9) / 3 - std::log(0.8)) / 2;
  EXPECT_NEAR(loss_of_predictions(losses, task, predictions, targets, scale), expected, 1e-12);
  const Validation validation(Metric::loss, losses, task, targets, scale);
  EXPECT_TRUE(validation.possible());
  EXPECT_FALSE(validation.by_loss()) << "the loss is the metric here, not a replacement";
  EXPECT_EQ(validation.name(), "loss");
  EXPECT_NEAR(validation.value(predictions), expected, 1e-12);
  EXPECT_TRUE(validation.better(0.1, 0.2));
  EXPECT_FALSE(Validation(Metric::loss, losses, task, {kNoLabel, kNoLabel}, scale).possible());
}

}  // namespace
}  // namespace molgraph
