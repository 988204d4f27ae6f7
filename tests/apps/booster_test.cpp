// XGBoost's trees converted to molgraph's, and the trees of whole tasks.
#include "apps/training/baselines/booster.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "apps/training/baselines/baselines.hpp"
#include "apps/training/baselines/tree_fit.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/philox.hpp"

namespace molgraph {
namespace {

/// A uniform number in [0, 1) for the indices i and k.
double uniform(std::uint32_t i, std::uint32_t k) {
  std::uint32_t out[4];
  const std::uint32_t counter[4] = {i, k, 0, 0}, key[2] = {7, 11};
  philox4x32_10(out, counter, key);
  return out[0] / 4294967296.0;
}

/// Rows with a few counts and three descriptors, some of them missing.
FeatureRows random_rows(std::size_t count) {
  FeatureRows rows{.descriptors = {"a", "b", "c"}};
  rows.width += 3;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t k = 0; k < 12; ++k) {
      if (uniform(i, k) > 0.4) continue;
      rows.column.push_back(100 * k);
      rows.value.push_back(static_cast<float>(1 + static_cast<int>(10 * uniform(i, k))));
    }
    for (std::uint32_t d = 0; d < 3; ++d) {
      if (uniform(i, 20 + d) < 0.1) continue;
      rows.column.push_back(static_cast<std::uint32_t>(kFingerprintBins) + d);
      rows.value.push_back(static_cast<float>(uniform(i, 30 + d)));
    }
    rows.offset.push_back(rows.column.size());
  }
  return rows;
}

std::vector<std::size_t> indices(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> all(end - begin);
  std::iota(all.begin(), all.end(), begin);
  return all;
}

std::vector<std::int64_t> molecules(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// The labels depend on a count and a descriptor.
double truth(const FeatureRows& rows, std::size_t i) {
  std::vector<float> dense(rows.width);
  rows.spread(i, dense.data());
  const auto or_zero = [](float number) { return std::isnan(number) ? 0.0 : static_cast<double>(number); };
  return or_zero(dense[100]) + 3 * or_zero(dense[kFingerprintBins + 1]);
}

float label_of(TaskKind kind, double value) {
  if (kind == TaskKind::regression) return static_cast<float>(value);
  return static_cast<float>(kind == TaskKind::binary ? value > 2.5 : (value > 1) + (value > 3));
}

constexpr std::size_t kTrain = 400, kAll = 500;

/// A set without graphs. The labels are `truth` plus noise; for regression, label t is 1000 plus 10^t times that.
MoleculeSet labelled_set(const FeatureRows& rows, TaskKind kind, std::size_t targets) {
  MoleculeSet set;
  set.task.kind = kind;
  set.task.classes = kind == TaskKind::multiclass ? 3 : 0;
  for (std::size_t t = 0; t < targets; ++t) set.task.names.push_back("t" + std::to_string(t));
  set.task.units.resize(targets);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t t = 0; t < targets; ++t) {
      const double label = label_of(kind, truth(rows, i) + 0.2 * uniform(static_cast<std::uint32_t>(i), 50));
      set.targets.push_back(kind == TaskKind::regression ? 1000 + label * std::pow(10, t) : label);
    }
    set.row.push_back(static_cast<std::int64_t>(i));
  }
  return set;
}

class WithXgboost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (xgboost_version().empty()) GTEST_SKIP() << "built without XGBoost";
  }
};

class BoosterByKind : public WithXgboost, public ::testing::WithParamInterface<TaskKind> {};

/// XGBoost sums some hundred floats in float32.
constexpr double kSumRounding = 2e-5;

/// Expects XGBoost's predictions from 120 converted trees, `forest` of them per round.
void expect_xgboost_predictions(TaskKind kind, int forest) {
  const FeatureRows rows = random_rows(kAll);
  const int classes = kind == TaskKind::multiclass ? 3 : 1;
  const auto labelled = [&](std::size_t begin, std::size_t end) {
    LabelledRows some{.rows = indices(begin, end)};
    for (const std::size_t i : some.rows) some.labels.push_back(label_of(kind, truth(rows, i)));
    return some;
  };
  const double base = kind == TaskKind::regression ? 1.5 : kind == TaskKind::binary ? 0.25 : 0.5;
  Booster booster(rows, labelled(0, kTrain), labelled(kTrain, kAll),
                  {.kind = kind, .classes = classes, .base = base, .columns = 0.5, .forest = forest});
  constexpr int kTrees = 120;
  for (int round = 0; round < kTrees / forest; ++round) booster.add_round();
  const std::vector<float> expected = booster.valid_margins();
  ASSERT_EQ(expected.size(), (kAll - kTrain) * static_cast<std::size_t>(classes));

  const auto by_output = booster.trees(kTrees / forest);
  Trees trees{.descriptors = rows.descriptors, .targets = {{.name = "margin"}}};
  trees.targets.assign(static_cast<std::size_t>(classes), trees.targets[0]);
  trees.forest.assign(trees.targets.size(), false);
  for (const auto& output : by_output) {
    ASSERT_EQ(output.size(), static_cast<std::size_t>(kTrees));
    for (const auto& nodes : output) {
      for (TreeNode node : nodes) {
        const auto first = static_cast<std::int32_t>(trees.tree_offset.back());
        if (node.feature >= 0) node.left += first, node.right += first;
        trees.nodes.push_back(node);
      }
      trees.tree_offset.push_back(static_cast<std::int64_t>(trees.nodes.size()));
    }
    trees.output_offset.push_back(static_cast<std::int64_t>(trees.tree_offset.size()) - 1);
    trees.base.push_back(kind == TaskKind::binary ? std::log(0.25 / 0.75) : base);
    trees.scale.push_back(1);
  }
  ASSERT_EQ(trees_problem(trees), "");
  EXPECT_GT(trees.nodes.size(), 1000u);  // the trees have splits
  const std::vector<double> actual = tree_predictions(trees, rows, molecules(kTrain, kAll), 2);
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], kSumRounding) << i;
}

TEST_P(BoosterByKind, ConvertedTreesPredictLikeXgboost) {
  expect_xgboost_predictions(GetParam(), 1);
  expect_xgboost_predictions(GetParam(), 8);
}
INSTANTIATE_TEST_SUITE_P(Kinds, BoosterByKind,
                         ::testing::Values(TaskKind::regression, TaskKind::binary, TaskKind::multiclass),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

class TaskTrees : public BoosterByKind {};

TEST_P(TaskTrees, LearnIndependentlyOfTheThreadCount) {
  const FeatureRows rows = random_rows(kAll);
  const MoleculeSet set = labelled_set(rows, GetParam(), 2);
  const auto train = molecules(0, 400), valid = molecules(400, 450), test = molecules(450, 500);
  const Trees one = fit_trees(rows, set, train, valid, {.rounds = 120, .seed = 3, .threads = 1}).trees;
  const Trees two = fit_trees(rows, set, train, valid, {.rounds = 120, .seed = 3, .threads = 3}).trees;
  const Trees other = fit_trees(rows, set, train, valid, {.rounds = 120, .seed = 4, .threads = 1}).trees;
  ASSERT_EQ(trees_problem(one), "");
  const std::vector<double> values = tree_predictions(one, rows, test, 1);
  EXPECT_EQ(values, tree_predictions(two, rows, test, 2));
  EXPECT_NE(values, tree_predictions(other, rows, test, 1));
  const std::size_t outputs = one.outputs(), classes = outputs / 2;
  double error = 0, right = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    for (std::size_t t = 0; t < 2; ++t) {
      const double label = set.targets[static_cast<std::size_t>(test[i]) * 2 + t];
      const double* value = values.data() + i * outputs + t * classes;
      if (GetParam() == TaskKind::regression) error += std::abs(*value - label) / std::pow(10, t);
      else if (GetParam() == TaskKind::binary) right += (*value > 0.5) == (label > 0.5);
      else right += std::max_element(value, value + classes) - value == static_cast<std::ptrdiff_t>(label);
    }
  }
  if (GetParam() == TaskKind::regression) EXPECT_LT(error / 100, 0.5);  // the labels' spread exceeds 1
  else EXPECT_GT(right / 100, 0.85);
}
INSTANTIATE_TEST_SUITE_P(Kinds, TaskTrees,
                         ::testing::Values(TaskKind::regression, TaskKind::binary, TaskKind::multiclass),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

class TreeFit : public WithXgboost {};

TEST_F(TreeFit, MissingLabelsAreLeftOut) {
  const FeatureRows rows = random_rows(kAll);
  MoleculeSet set = labelled_set(rows, TaskKind::regression, 1), with_missing = set;
  std::vector<std::int64_t> present;
  for (std::int64_t g = 0; g < 400; ++g) {
    if (g % 3 == 0) with_missing.targets[static_cast<std::size_t>(g)] = std::numeric_limits<double>::quiet_NaN();
    else present.push_back(g);
  }
  const Trees masked = fit_trees(rows, with_missing, molecules(0, 400), molecules(400, 500), {.rounds = 20}).trees;
  const Trees fewer = fit_trees(rows, set, present, molecules(400, 500), {.rounds = 20}).trees;
  EXPECT_EQ(tree_predictions(masked, rows, molecules(0, 500), 1), tree_predictions(fewer, rows, molecules(0, 500), 1));
}

// Twenty molecules with a count have the label 1, > 1 or < 1, twenty without have 0. All predictions start at 0.
TEST_F(TreeFit, CensoredLabelsAreBounds) {
  FeatureRows rows;
  for (int i = 0; i < 40; ++i) {
    if (i < 20) rows.column.push_back(5), rows.value.push_back(1);
    rows.offset.push_back(rows.column.size());
  }
  LabelledRows train{.rows = indices(0, 40), .labels = std::vector<float>(40)},
      valid{.rows = {0, 30}, .labels = {0, 0}};
  std::fill_n(train.labels.begin(), 20, 1.0F);
  const auto predicted = [&](std::int8_t bound) {
    train.bounds.assign(40, 0);
    std::fill_n(train.bounds.begin(), 20, bound);
    Booster booster(rows, train, valid, {.rows = 1, .columns = 1, .l2 = 0});
    for (int round = 0; round < 200; ++round) booster.add_round();
    return booster.valid_margins();
  };
  EXPECT_NEAR(predicted(0)[0], 1, 1e-3);
  EXPECT_NEAR(predicted(1)[0], 1, 1e-3);
  EXPECT_EQ(predicted(-1)[0], 0);  // already below 1: no gradient
  for (const std::int8_t bound : {-1, 0, 1}) EXPECT_NEAR(predicted(bound)[1], 0, 1e-3);
}

// Only exact labels are used for validation and for the centre of the labels.
TEST_F(TreeFit, ValidationAndCentringUseExactLabels) {
  const FeatureRows rows = random_rows(kAll);
  MoleculeSet set = labelled_set(rows, TaskKind::regression, 1);
  set.bound.assign(kAll, 0);
  for (std::size_t g = 400; g < 450; ++g) set.bound[g] = 1;
  const auto fitted = [&] {
    return tree_predictions(fit_trees(rows, set, molecules(0, 400), molecules(400, 500), {.rounds = 30}).trees, rows,
                            molecules(0, 20), 1);
  };
  const std::vector<double> before = fitted();
  for (std::size_t g = 400; g < 450; ++g) set.targets[g] += 100;
  EXPECT_EQ(before, fitted());

  for (std::size_t g = 0; g < 399; ++g) set.bound[g] = -1;
  set.targets[399] = 1234;
  const Trees trees = fit_trees(rows, set, molecules(0, 400), {}, {.rounds = 5}).trees;
  EXPECT_EQ(trees.base[0], 1234);
}

TEST_F(TreeFit, FewBinaryLabelsGetAForest) {
  const FeatureRows rows = random_rows(5000);
  const MoleculeSet set = labelled_set(rows, TaskKind::binary, 1);
  const auto few = molecules(0, 4800);  // plus 199 for validation: 4,999
  const FittedTrees forest = fit_trees(rows, set, few, molecules(4800, 4999), {});
  const std::size_t boosters = forest.sizes.size(), trees = forest.trees.tree_offset.size() - 1;
  EXPECT_EQ(forest.sizes, std::vector(boosters, BoosterSize{1, true}));
  EXPECT_EQ(trees, 500u);
  double ones = 0;
  for (const std::int64_t g : few) ones += set.targets[static_cast<std::size_t>(g)] / 4800;
  const double lowest = -1 / (1 - ones), highest = 1 / ones;  // (share of ones - p)/(p (1 - p)) of a pure leaf
  int pure = 0;
  for (const TreeNode& node : forest.trees.nodes) {
    if (node.feature >= 0) continue;
    const double step = node.value * static_cast<double>(trees / boosters);
    EXPECT_TRUE(step > lowest - 1e-3 && step < highest + 1e-3) << step;
    pure += step < lowest + 1e-3 || step > highest - 1e-3;
  }
  EXPECT_GT(pure, 10);
  EXPECT_EQ(forest.trees.forest, std::vector{true});
  EXPECT_NEAR(forest.trees.base[0], ones, 1e-6);
  EXPECT_NEAR(forest.trees.scale[0], ones * (1 - ones) / static_cast<double>(boosters), 1e-6);
  const std::vector<double> known = tree_predictions(forest.trees, rows, few, 1);
  int wrong = 0;
  for (std::size_t g = 0; g < known.size(); ++g) wrong += (known[g] > ones) != (set.targets[g] > 0.5);
  EXPECT_LT(wrong, 0.4 * std::min(ones, 1 - ones) * 4800)
      << "predicting only the more common class gives a factor of 1";
  const FittedTrees again = fit_trees(rows, set, molecules(0, 4999), {}, {.sizes = forest.sizes});
  EXPECT_EQ(again.trees.tree_offset.size() - 1, 500u) << "including the validation set";
  const FittedTrees boosted = fit_trees(rows, set, few, molecules(4800, 5000), {.rounds = 3});
  EXPECT_EQ(boosted.trees.tree_offset.size() - 1, 3 * boosters) << "5,000 labels";
  EXPECT_EQ(boosted.trees.forest, std::vector{false});
  const FittedTrees fewer = fit_trees(rows, set, molecules(0, 1000), {}, {.sizes = boosted.sizes});
  EXPECT_EQ(fewer.sizes, boosted.sizes) << "a refit keeps the kind, whatever the number of labels";
}

TEST_F(TreeFit, RowsAreWeighted) {
  const FeatureRows rows = random_rows(kAll);
  MoleculeSet set = labelled_set(rows, TaskKind::regression, 1);
  set.weight.assign(kAll, 1);
  const auto predicted = [&] {
    return tree_predictions(fit_trees(rows, set, molecules(0, 400), {}, {.rounds = 20}).trees, rows,
                            molecules(450, 500), 1);
  };
  const std::vector<double> even = predicted();
  for (std::size_t g = 0; g < 200; ++g) set.weight[g] = 0;
  const std::vector<double> uneven = predicted();
  EXPECT_NE(even, uneven);
  for (std::size_t g = 0; g < 200; ++g) set.targets[g] = 1002 + uniform(static_cast<std::uint32_t>(g), 77);
  EXPECT_EQ(uneven, predicted()) << "labels of rows with weight 0";
}

TEST_F(TreeFit, ConstantTargetsGetTheirMean) {
  const FeatureRows rows = random_rows(20);
  const auto predicted = [&](TaskKind kind, const std::vector<double>& labels) {
    MoleculeSet set = labelled_set(rows, kind, 1);
    std::ranges::copy(labels, set.targets.begin());
    const Trees trees =
        fit_trees(rows, set, molecules(0, static_cast<std::int64_t>(labels.size())), molecules(10, 20), {}).trees;
    EXPECT_EQ(trees.nodes.size(), 0u);
    EXPECT_EQ(trees_problem(trees), "");
    return tree_predictions(trees, rows, molecules(15, 16), 1);
  };
  EXPECT_EQ(predicted(TaskKind::regression, {4.5, 4.5, 4.5}), (std::vector<double>{4.5}));
  EXPECT_EQ(predicted(TaskKind::regression, {7}), (std::vector<double>{7}));
  EXPECT_GT(predicted(TaskKind::binary, {1, 1, 1})[0], 0.99);
  EXPECT_LT(predicted(TaskKind::binary, {0, 0})[0], 0.01);
  EXPECT_GT(predicted(TaskKind::multiclass, {2, 2})[2], 0.99);
}

TEST_F(TreeFit, RefitUsesTheSameNumberOfRounds) {
  const FeatureRows rows = random_rows(kAll);
  MoleculeSet set = labelled_set(rows, TaskKind::binary, 2);
  set.weight.assign(kAll, 1);
  std::fill_n(set.weight.begin(), 200, 0.25F);
  const FittedTrees stopped = fit_trees(rows, set, molecules(0, 400), molecules(400, 500), {.patience = 5});
  const FittedTrees again = fit_trees(rows, set, molecules(0, 400), {}, {.sizes = stopped.sizes});
  ASSERT_EQ(stopped.sizes.size(), 4u);  // two boosters for each target
  EXPECT_EQ(again.sizes, stopped.sizes);
  EXPECT_EQ(stopped.trees.forest, std::vector({true, true}));
  EXPECT_EQ(again.trees.forest, stopped.trees.forest);
  double ones = 0;  // weighted
  for (std::size_t g = 0; g < 400; ++g) ones += set.targets[2 * g] * static_cast<double>(set.weight[g]) / 250;
  EXPECT_NEAR(stopped.trees.base[0], ones, 1e-6);
  EXPECT_EQ(again.trees.tree_offset, stopped.trees.tree_offset);
  EXPECT_EQ(tree_predictions(again.trees, rows, molecules(400, 500), 1),
            tree_predictions(stopped.trees, rows, molecules(400, 500), 1));

  const Baselines made{.trees = stopped.trees, .tree_sizes = stopped.sizes};
  const Trees whole = refit_trees(made, rows, set, molecules(0, 500), {});
  EXPECT_EQ(whole.tree_offset.size(), stopped.trees.tree_offset.size());
  EXPECT_NE(tree_predictions(whole, rows, molecules(400, 500), 1),
            tree_predictions(stopped.trees, rows, molecules(400, 500), 1));
}

TEST_F(TreeFit, StopsEarlyWithoutImprovement) {
  const FeatureRows rows = random_rows(kAll);
  MoleculeSet set = labelled_set(rows, TaskKind::regression, 1);
  for (std::uint32_t g = 400; g < 500; ++g) set.targets[g] = 1000 + uniform(g, 99);  // not learnable
  const Trees stopped =
      fit_trees(rows, set, molecules(0, 400), molecules(400, 500), {.rounds = 300, .patience = 10}).trees;
  const Trees whole = fit_trees(rows, set, molecules(0, 400), {}, {.rounds = 300, .rounds_without_valid = 100}).trees;
  EXPECT_LT(stopped.tree_offset.size(), 4u * 50u);
  EXPECT_EQ(whole.tree_offset.size() - 1, 4u * 100u);
}

TEST(WithoutXgboost, BoosterThrows) {
  if (!xgboost_version().empty()) GTEST_SKIP() << "built with XGBoost";
  EXPECT_THROW(Booster(random_rows(3), {}, {}, {}), RunError);
}

}  // namespace
}  // namespace molgraph
