#include "apps/training/loop/label_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/training/loop/loss.hpp"

namespace molgraph {
namespace {

constexpr double kUnlabelled = std::numeric_limits<double>::quiet_NaN();

/// A set with labels only: weights depend on nothing else.
MoleculeSet set_of(TaskKind kind, std::size_t targets, std::vector<double> labels, int classes = 0) {
  MoleculeSet set;
  set.task.kind = kind;
  set.task.classes = classes;
  for (std::size_t t = 0; t < targets; ++t) set.task.names.push_back("t" + std::to_string(t));
  set.row.resize(labels.size() / targets);
  set.targets = std::move(labels);
  return set;
}

TEST(LabelWeights, DefaultWeightsAreOne) {
  const MoleculeSet set = set_of(TaskKind::regression, 2, {1, 2, 3, kUnlabelled});
  const LabelWeights weights(set, {0, 1}, {});
  EXPECT_TRUE(weights.all_one());
  EXPECT_TRUE(weights.table(set).empty());
  EXPECT_EQ(weights.of(set, 0, 1), 1.0f);
  EXPECT_EQ(weights.of(set, 1, 1), 0.0f) << "missing";
}

TEST(LabelWeights, RowAndTargetWeightsMatchHandCalculation) {
  MoleculeSet set = set_of(TaskKind::regression, 2, {1, 2, 3, kUnlabelled, 5, 6});
  set.weight = {1, 2, 5};
  // The training set is the first two rows. Row weights times target weights 1 and 3: 1, 3, 2; their mean is 2.
  const LabelWeights weights(set, {0, 1}, {.tasks = {1, 3}});
  EXPECT_EQ(weights.table(set), (std::vector<float>{0.5f, 1.5f, 1.0f, 0.0f, 2.5f, 7.5f}));
}

TEST(LabelWeights, BalancedTargetsHaveEqualShares) {
  // Target 0 has four labels, target 1 has one. Each target has half of the loss of five labels.
  const MoleculeSet set = set_of(TaskKind::regression, 2, {1, 9, 2, kUnlabelled, 3, kUnlabelled, 4, kUnlabelled});
  const LabelWeights equal(set, {0, 1, 2, 3}, {.balance_tasks = true});
  EXPECT_FLOAT_EQ(equal.of(set, 0, 0), 0.625f);
  EXPECT_FLOAT_EQ(equal.of(set, 0, 1), 2.5f);
  const LabelWeights thrice(set, {0, 1, 2, 3}, {.tasks = {1, 3}, .balance_tasks = true});
  EXPECT_FLOAT_EQ(4 * thrice.of(set, 3, 0), 1.25f);
  EXPECT_FLOAT_EQ(thrice.of(set, 0, 1), 3.75f) << "three times the share, not three times the label";
}

TEST(LabelWeights, BalancedClassesHaveEqualShares) {
  // Training labels of target 0: three 0 and one 1; of target 1: one of each.
  const MoleculeSet set = set_of(TaskKind::binary, 2, {0, 1, 0, 0, 0, kUnlabelled, 1, kUnlabelled, 1, 1});
  const LabelWeights weights(set, {0, 1, 2, 3}, {.balance_classes = true});
  EXPECT_FLOAT_EQ(weights.of(set, 0, 0), 4.0f / 6);
  EXPECT_FLOAT_EQ(weights.of(set, 3, 0), 2.0f);
  EXPECT_FLOAT_EQ(weights.of(set, 0, 1), 1.0f);
  EXPECT_FLOAT_EQ(weights.of(set, 4, 0), 2.0f) << "as in the training set";
  EXPECT_EQ(weights.text(set.task), "t0 (0: 0.6667, 1: 2.000), t1 (0: 1.000, 1: 1.000)");
  // Three classes, of which two occur in the training set.
  const MoleculeSet many = set_of(TaskKind::multiclass, 1, {0, 0, 0, 2, 1}, 3);
  const LabelWeights of_many(many, {0, 1, 2, 3}, {.balance_classes = true});
  EXPECT_FLOAT_EQ(of_many.of(many, 0, 0), 4.0f / 6);
  EXPECT_FLOAT_EQ(of_many.of(many, 3, 0), 2.0f);
}

TEST(WeightedLoss, MatchesHandCalculationInBothEngines) {
  const torch::Tensor targets = torch::tensor({{3.0, kUnlabelled}, {5.0, 10.0}}, torch::kFloat64);
  const torch::Tensor shift = torch::tensor({1.0, 0.0}, torch::kFloat64),
                      scale = torch::tensor({2.0, 5.0}, torch::kFloat64);
  const torch::Tensor raw = torch::tensor({{2.0f, 7.0f}, {2.0f, 5.0f}});  // differences: 1, -, 0, 3
  const LabelTerms terms{.bounds = {}, .weights = torch::tensor({{0.5f, 0.0f}, {4.0f, 3.0f}})};
  torch::Tensor scaled = raw.clone().set_requires_grad(true);
  const LossSum sum = masked_loss(Loss::mse, scaled, targets, shift, scale, terms);
  EXPECT_EQ(sum.count, 3) << "the count does not depend on the weights";
  EXPECT_FLOAT_EQ(sum.sum.item<float>(), 0.5f * 1 + 3 * 9);
  (sum.sum / 3).backward();
  const LossSlope slope = loss_slope(Loss::mse, targets, shift, scale, 1.0 / 3, terms);
  for (std::int64_t row = 0; row < 2; ++row) {
    float gradient[2];
    slope(static_cast<std::size_t>(row), raw[row].const_data_ptr<float>(), gradient);
    for (int t = 0; t < 2; ++t) EXPECT_FLOAT_EQ(gradient[t], scaled.grad()[row][t].item<float>());
  }
  const torch::Tensor logits = torch::tensor({{0.0f, 1.0f}, {2.0f, 0.0f}}), label = torch::tensor({{1.0f}, {0.0f}});
  const torch::Tensor zero = torch::zeros({2}), one = torch::ones({2});
  const LabelTerms of_classes{.bounds = {}, .weights = torch::tensor({{2.0f}, {0.25f}})};
  EXPECT_NEAR(masked_loss(Loss::ce, logits, label, zero, one, of_classes).sum.item<double>(),
              2 * std::log1p(std::exp(-1.0)) + 0.25 * std::log1p(std::exp(-2.0)), 1e-6);
  float gradient[2];
  loss_slope(Loss::ce, label, zero, one, 1, of_classes)(1, logits[1].const_data_ptr<float>(), gradient);
  EXPECT_NEAR(gradient[1], 0.25 / (1 + std::exp(2.0)), 1e-6);
}

}  // namespace
}  // namespace molgraph
