// Hand-computed values of the nearest neighbour, a blend's shares and weighted moments.
#include "apps/training/baselines/baselines.hpp"

#include <gmock/gmock.h>
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

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Feature rows, each from {column, count} pairs.
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

TEST(Moments, MatchHandComputedValues) {
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

TEST(Nearest, MatchesHandComputedSimilarities) {
  // Similarity of molecule 4 (sum of minima / sum of maxima) to 0: (2 + 1) / (2 + 3) = 3/5; to 1: (2 + 3) / (4 + 3) =
  // 5/7; to 2: 0; to 3: 3 / (2 + 3) = 3/5.
  const FeatureRows rows = counts({{{5, 2}, {9, 1}}, {{5, 4}, {9, 3}}, {{70, 1}}, {{9, 3}}, {{5, 2}, {9, 3}}});
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, {10, 11, 12, 13, 14});
  EXPECT_EQ(nearest_predictions(rows, set, {0, 1, 2, 3}, {4}, 1), (std::vector<double>{11}));
  EXPECT_EQ(nearest_predictions(rows, set, {0, 2, 3}, {4}, 1), (std::vector<double>{10}));  // tie: the first
  EXPECT_EQ(nearest_predictions(rows, set, {3, 2, 0}, {4}, 1), (std::vector<double>{13}));
  // A molecule is not its own neighbour. The nearest to 1 is 4; without 4 it is 0 (3/7, tie with 3, which is later).
  EXPECT_EQ(nearest_predictions(rows, set, {0, 1, 2, 3, 4}, {1}, 2), (std::vector<double>{14}));
  EXPECT_EQ(nearest_predictions(rows, set, {0, 1, 2, 3}, {1}, 1), (std::vector<double>{10}));
  EXPECT_TRUE(same(nearest_predictions(rows, set, {1}, {1}, 1), {kNaN}));
}

TEST(Nearest, UsesTheNearestMoleculeWithALabel) {
  const FeatureRows rows = counts({{{1, 1}}, {{1, 2}}, {{1, 3}}, {{1, 3}}});
  const MoleculeSet set =
      set_of(TaskKind::regression, {"a", "b", "c"}, {1, 2, kNaN, 3, kNaN, kNaN, kNaN, kNaN, kNaN, 0, 0, 0});
  EXPECT_TRUE(same(nearest_predictions(rows, set, {0, 1, 2}, {3}, 1), {3, 2, kNaN}));
}

TEST(Nearest, SearchesFurtherIfTheNearestHaveNoLabel) {
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

TEST(Nearest, PredictsClassesWithCertainty) {
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

using Rows = std::vector<std::vector<double>>;

/// The shares [K] chosen for one regression target.
std::vector<double> shares_of(const Rows& predictions, const std::vector<double>& truth, Metric metric = Metric::rmse) {
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, {});
  std::vector<double> shares;
  for (const auto& one : choose_shares(metric, set.task, predictions, truth)) shares.push_back(one.front());
  return shares;
}

/// The values, repeated `times` times.
std::vector<double> repeated(const std::vector<double>& values, int times) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(Shares, AreThePosteriorMean) {
  // Sum over the grid of share * (mean loss)^(-0.25 n / 2), for the MAE ^(-0.25 n), divided by the same sum without the
  // factor share.
  EXPECT_THAT(shares_of({{0, 1, 2, 3}, {4, 5, 6, 7}}, {1, 2, 3, 4}),
              ElementsAre(DoubleNear(0.74308133, 1e-8), DoubleNear(0.25691867, 1e-8)));
  EXPECT_NEAR(shares_of({{0, 1, 2, 3}, {4, 5, 6, 7}}, {1, 2, 3, 4}, Metric::mae)[0], 0.7499925, 1e-7);
  EXPECT_THAT(shares_of({{2}, {5}, {1}}, {3}),
              ElementsAre(DoubleNear(0.33649476, 1e-8), DoubleNear(0.34885239, 1e-8), DoubleNear(0.31465285, 1e-8)));
  EXPECT_THAT(shares_of({{2}, {5}, {1}}, {3}, Metric::mae),
              ElementsAre(DoubleNear(0.32778135, 1e-8), DoubleNear(0.36703322, 1e-8), DoubleNear(0.30518543, 1e-8)));
  EXPECT_NEAR(shares_of({{0, 1, 2, 3}, {2, 3, 4, 5}}, {1, 2, 3, 4})[0], 0.5, 1e-12) << "errors that cancel each other";
  EXPECT_THAT(shares_of({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {1, 2, 4}), Each(DoubleNear(1.0 / 3, 1e-12)))
      << "no difference";
  EXPECT_THAT(shares_of({{1, 2}, {2, 1}}, {kNaN, kNaN}), Each(DoubleNear(0.5, 1e-12))) << "no labels";
}

TEST(Shares, ExactPredictionsDoNotDivideByZero) {
  const std::vector<double> truth{1, 2, 3, 4, 5, 6, 7, 8}, wrong{3, 4, 1, 2, 7, 8, 5, 6};
  EXPECT_NEAR(shares_of({truth, wrong}, truth)[0], 0.999928091, 1e-8);
  EXPECT_NEAR(shares_of({repeated(wrong, 100), repeated(truth, 100)}, repeated(truth, 100))[1], 1, 1e-12);
  EXPECT_THAT(shares_of({truth, truth}, truth), Each(DoubleNear(0.5, 1e-12)));
}

TEST(Shares, NonFinitePredictionsGetNoShare) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(shares_of({{1, 2, 3}, {1, kNaN, 3}}, {1, 2, 4}), ElementsAre(1, 0));
  EXPECT_EQ(shares_of({{inf, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {1, 2, 4})[0], 0);
  EXPECT_THAT(shares_of({{1, kNaN}, {1, 1e200}}, {1, 2}), Each(DoubleNear(0.5, 1e-12))) << "no finite loss";
}

TEST(Shares, AreChosenPerTargetFromKnownLabels) {
  const MoleculeSet set = set_of(TaskKind::regression, {"a", "b"}, {});
  const Rows both = choose_shares(Metric::mae, set.task, {{1, 9, 2, 8, 3, 9, 7, 7}, {5, 1, 5, 2, 9, 3, 7, 7}},
                                  {1, 1, 2, 2, 3, 3, kNaN, kNaN});
  EXPECT_THAT(both[0], ElementsAre(DoubleNear(0.999483766, 1e-8), DoubleNear(0.000516234, 1e-8)));
}

// The model is right in five of eight rows, the trees in the other three. The best share is 5/8.
TEST(Shares, FewRowsMoveSharesLittle) {
  const std::vector<double> truth(8), model{0, 0, 0, 0, 0, 1, 1, 1}, trees{1, 1, 1, 1, 1, 0, 0, 0};
  EXPECT_NEAR(shares_of({model, trees}, truth)[0], 0.54881253, 1e-8);
  EXPECT_NEAR(shares_of({repeated(model, 1000), repeated(trees, 1000)}, repeated(truth, 1000))[0], 0.625, 1e-6);
}

TEST(Shares, ClassesUseTheLogLoss) {
  const MoleculeSet set = set_of(TaskKind::binary, {"c"}, {});
  EXPECT_NEAR(choose_shares(Metric::roc_auc, set.task, {{0.9, 0.2}, {0.4, 0.6}}, {1, 0})[0][0], 0.5334894, 1e-7);
  // The model ranks perfectly, but it is repeatedly confident of a wrong label. The trees are not.
  const std::vector<double> model{0.999, 0.9999}, trees{0.3, 0.7};
  EXPECT_NEAR(choose_shares(Metric::roc_auc, set.task, {repeated(model, 200), repeated(trees, 200)},
                            repeated({0, 1}, 200))[0][0],
              0.01303316, 1e-8);
  // With labels of one class only, the more confident predictor is not better.
  for (const double label : {0.0, 1.0})
    EXPECT_THAT(choose_shares(Metric::roc_auc, set.task, {{label, label}, {0.5, 0.5}}, {label, label}),
                Each(ElementsAre(DoubleNear(0.5, 1e-12))))
        << label;
}

TEST(Shares, SupportSeveralClassesAndMixedTargets) {
  const MoleculeSet three = set_of(TaskKind::multiclass, {"m"}, {}, 3);
  const std::vector<double> right = repeated({1, 0, 0, 0, 1, 0, 0, 0, 1}, 100),
                            wrong = repeated({0, 0, 1, 1, 0, 0, 0, 1, 0}, 100), classes = repeated({0, 1, 2}, 100);
  EXPECT_NEAR(choose_shares(Metric::accuracy, three.task, {wrong, right}, classes)[1][0], 1, 0.05);
  EXPECT_NEAR(choose_shares(Metric::accuracy, three.task, {right, wrong}, classes)[0][0], 1, 0.05);

  MoleculeSet both = set_of(TaskKind::mixed, {"y", "c"}, {});
  both.task.kinds = {TaskKind::regression, TaskKind::binary};
  const auto good = repeated({1, 0.9, 2, 0.1, 3, 0.9}, 100), bad = repeated({9, 0.1, 8, 0.9, 7, 0.1}, 100),
             mixed = repeated({1, 0.1, 2, 0.9, 3, 0.1}, 100), labels = repeated({1, 1, 2, 0, 3, 1}, 100);
  EXPECT_THAT(choose_shares(Metric::loss, both.task, {good, bad}, labels)[0], Each(DoubleNear(1, 0.05)));
  EXPECT_THAT(choose_shares(Metric::loss, both.task, {mixed, repeated({9, 0.9, 8, 0.1, 7, 0.9}, 100)}, labels)[0],
              ElementsAre(DoubleNear(1, 0.05), DoubleNear(0, 0.05)));
}

}  // namespace
}  // namespace molgraph
