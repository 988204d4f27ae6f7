// The nearest neighbour, the blend and what they count with, by hand.
#include "apps/training/baselines/baselines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/scoring/moments.hpp"
#include "apps/training/baselines/booster.hpp"
#include "apps/training/baselines/nearest.hpp"
#include "apps/training/baselines/shares.hpp"
#include "tests/apps/partner_fixtures.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Rows of counts: {column, count} pairs each.
FeatureRows counts(const std::vector<std::vector<std::pair<std::uint32_t, float>>>& all) {
  FeatureRows rows;
  for (const auto& row : all) {
    for (const auto& [column, count] : row) {
      rows.column.push_back(column);
      rows.value.push_back(count);
    }
    rows.offset.push_back(rows.column.size());
  }
  return rows;
}

using testing::set_of;

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(Moments, OfWeightedNumbersByHand) {
  Moments moments;
  EXPECT_EQ(moments.deviation(), 0);
  for (const double value : {1e9 + 1, 1e9 + 2, 1e9 + 4}) moments.add(value);
  EXPECT_NEAR(moments.mean, 1e9 + 7.0 / 3, 1e-6);
  EXPECT_NEAR(moments.deviation(), std::sqrt(14.0 / 9), 1e-6);
  Moments weighted;
  weighted.add(1, 1), weighted.add(5, 3);
  EXPECT_EQ(weighted.weight, 4);
  EXPECT_DOUBLE_EQ(weighted.mean, 4);
  EXPECT_DOUBLE_EQ(weighted.deviation(), std::sqrt(3.0));
}

TEST(Nearest, IsTheMostSimilarByTheCounts) {
  // Molecule 4 shares with 0: min 2 + 1 of max 2 + 3: 3/5; with 1: 2 + 3 of 4 + 3: 5/7; with 2: 0; with 3: 3 of 2 + 3:
  // 3/5.
  const FeatureRows rows = counts({{{5, 2}, {9, 1}}, {{5, 4}, {9, 3}}, {{70, 1}}, {{9, 3}}, {{5, 2}, {9, 3}}});
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, {10, 11, 12, 13, 14});
  EXPECT_EQ(nearest_predictions(rows, set, {0, 1, 2, 3}, {4}, 1), (std::vector<double>{11}));
  EXPECT_EQ(nearest_predictions(rows, set, {0, 2, 3}, {4}, 1), (std::vector<double>{10}));  // of equals the first
  EXPECT_EQ(nearest_predictions(rows, set, {3, 2, 0}, {4}, 1), (std::vector<double>{13}));
  // Its own neighbour is no molecule: 1 is like 4, and like 0 (3/7) rather than 3 (3/7, later).
  EXPECT_EQ(nearest_predictions(rows, set, {0, 1, 2, 3, 4}, {1}, 2), (std::vector<double>{14}));
  EXPECT_EQ(nearest_predictions(rows, set, {0, 1, 2, 3}, {1}, 1), (std::vector<double>{10}));
  EXPECT_TRUE(same(nearest_predictions(rows, set, {1}, {1}, 1), {kNaN}));
}

TEST(Nearest, IsOneThatHasALabel) {
  const FeatureRows rows = counts({{{1, 1}}, {{1, 2}}, {{1, 3}}, {{1, 3}}});
  const MoleculeSet set =
      set_of(TaskKind::regression, {"a", "b", "c"}, {1, 2, kNaN, 3, kNaN, kNaN, kNaN, kNaN, kNaN, 0, 0, 0});
  EXPECT_TRUE(same(nearest_predictions(rows, set, {0, 1, 2}, {3}, 1), {3, 2, kNaN}));
}

TEST(Nearest, LooksFurtherWhereTheFirstHaveNoLabel) {
  std::vector<std::vector<std::pair<std::uint32_t, float>>> all;
  std::vector<double> labels;
  for (int i = 0; i < 100; ++i) {
    all.push_back({{1, static_cast<float>(i + 1)}});
    labels.push_back(i < 20 ? i : kNaN);
  }
  const FeatureRows rows = counts(all);
  std::vector<std::int64_t> train(99);
  for (std::size_t i = 0; i < train.size(); ++i) train[i] = static_cast<std::int64_t>(i);
  EXPECT_EQ(nearest_predictions(rows, set_of(TaskKind::regression, {"y"}, labels), train, {99}, 1),
            (std::vector<double>{19}));
}

TEST(Nearest, ClassesAreCertain) {
  const FeatureRows rows = counts({{{1, 1}}, {{2, 1}}, {{2, 2}}});
  EXPECT_EQ(nearest_predictions(rows, set_of(TaskKind::multiclass, {"c"}, {0, 2, 1}, 3), {0, 1}, {2}, 1),
            (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(nearest_predictions(rows, set_of(TaskKind::binary, {"c"}, {0, 1, 0}), {0, 1}, {2}, 1),
            (std::vector<double>{1}));
}

TEST(Baselines, AreLeftOutWithAReason) {
  const FeatureRows rows = counts({{{1, 1}}, {{2, 1}}, {{2, 2}}});
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, {1, 2, 3});
  const Baselines made = make_baselines(rows, set, {.train = {0, 1}, .test = {2}}, {.threads = 1});
  EXPECT_EQ(made.nearest[2], (std::vector<double>{2}));
  EXPECT_TRUE(made.nearest[1].empty());
  if (xgboost_version().empty()) {
    EXPECT_FALSE(made.trees);
    EXPECT_EQ(made.notes, (std::vector<std::string>{"Trees: baseline left out: built without XGBoost"}));
  } else {
    ASSERT_TRUE(made.trees);
    EXPECT_TRUE(made.notes.empty());
    EXPECT_EQ(made.of_trees[0].size(), 2u);
  }
}

using Shares = std::vector<double>;

/// The model's share that is chosen for one regression target.
double share_of(const std::vector<double>& model, const std::vector<double>& of_trees,
                const std::vector<double>& truth) {
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, {});
  return choose_shares(Metric::rmse, set.task, model, of_trees, truth).front();
}

TEST(Blend, TakesTheBetterPredictor) {
  const std::vector<double> truth{1, 2, 3, 4, 5, 6, 7, 8}, wrong{3, 4, 1, 2, 7, 8, 5, 6};
  EXPECT_EQ(share_of(truth, wrong, truth), 1);
  EXPECT_EQ(share_of(wrong, truth, truth), 0);
  EXPECT_EQ(share_of({0, 1, 2, 3}, {2, 3, 4, 5}, {1, 2, 3, 4}), 0.5);  // errors that cancel each other
  EXPECT_NEAR(share_of({0, 1, 2, 3}, {4, 5, 6, 7}, {1, 2, 3, 4}), 0.75, 1e-12);
  EXPECT_EQ(share_of({1, 2, 3, 3}, {1, 2, 3, 3}, {1, 2, 3, 4}), 0.5);  // no difference
  EXPECT_EQ(share_of({1, 2}, {2, 1}, {kNaN, kNaN}), 0.5);              // nothing to choose by
}

TEST(Blend, EveryTargetHasItsOwn) {
  const MoleculeSet set = set_of(TaskKind::regression, {"a", "b"}, {});
  EXPECT_EQ(choose_shares(Metric::mae, set.task, {1, 9, 2, 8, 3, 9}, {5, 1, 5, 2, 9, 3}, {1, 1, 2, 2, 3, 3}),
            (Shares{1, 0}));
}

// Of eight rows the model is right in five, and the trees in the other three: the best share is 5/8.
TEST(Blend, FewRowsSayLittle) {
  std::vector<double> truth, model, of_trees;
  for (const std::size_t rows : {8u, 8000u}) {
    for (std::size_t i = truth.size(); i < rows; ++i) {
      truth.push_back(0);
      model.push_back(i % 8 < 5 ? 0 : 1);
      of_trees.push_back(i % 8 < 5 ? 1 : 0);
    }
    EXPECT_NEAR(share_of(model, of_trees, truth), rows == 8 ? 0.5 : 0.6, 1e-12) << rows;
  }
}

TEST(Blend, ClassesAreMixedByTheLogLoss) {
  // The model ranks perfectly but is sure of a wrong label again and again; the trees are not.
  std::vector<double> truth, model, of_trees;
  for (int i = 0; i < 400; ++i) {
    truth.push_back(i % 2);
    model.push_back(i % 2 == 0 ? 0.999 : 0.9999);
    of_trees.push_back(i % 2 == 0 ? 0.3 : 0.7);
  }
  const MoleculeSet set = set_of(TaskKind::binary, {"c"}, {});
  EXPECT_EQ(choose_shares(Metric::roc_auc, set.task, model, of_trees, truth), (Shares{0}));
  // Of one class only: the surer one is not the better one.
  for (const double label : {0.0, 1.0})
    EXPECT_EQ(choose_shares(Metric::roc_auc, set.task, {label, label}, {0.5, 0.5}, {label, label}), (Shares{0.5}))
        << label;
}

TEST(Blend, SeveralClassesAndBothKinds) {
  const MoleculeSet three = set_of(TaskKind::multiclass, {"m"}, {}, 3);
  const std::vector<double> right{1, 0, 0, 0, 1, 0, 0, 0, 1}, wrong{0, 0, 1, 1, 0, 0, 0, 1, 0};
  EXPECT_EQ(choose_shares(Metric::accuracy, three.task, wrong, right, {0, 1, 2}), (Shares{0}));
  EXPECT_EQ(choose_shares(Metric::accuracy, three.task, right, wrong, {0, 1, 2}), (Shares{1}));

  MoleculeSet both = set_of(TaskKind::mixed, {"y", "c"}, {});
  both.task.kinds = {TaskKind::regression, TaskKind::binary};
  EXPECT_EQ(
      choose_shares(Metric::loss, both.task, {1, 0.9, 2, 0.1, 3, 0.9}, {9, 0.1, 8, 0.9, 7, 0.1}, {1, 1, 2, 0, 3, 1}),
      (Shares{1, 1}));
  EXPECT_EQ(
      choose_shares(Metric::loss, both.task, {1, 0.1, 2, 0.9, 3, 0.1}, {9, 0.9, 8, 0.1, 7, 0.9}, {1, 1, 2, 0, 3, 1}),
      (Shares{1, 0}));
}

}  // namespace
}  // namespace molgraph
