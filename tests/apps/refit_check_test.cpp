// Tests the check whether a retrained partner of a blend is used, and shares that do not depend on one wrong label.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "apps/training/baselines/nearest.hpp"
#include "apps/training/baselines/shares.hpp"
#include "datasets/label_limits.hpp"
#include "tests/apps/partner_fixtures.hpp"

namespace molgraph {
namespace {

using testing::set_of;
using Rows = std::vector<double>;
using Sets = std::array<Rows, 3>;

/// Predictions for labels of 0: errors of `error` with alternating sign, a tenth larger in every third row.
Rows off_by(double error, std::size_t rows = 20) {
  Rows values;
  for (std::size_t i = 0; i < rows; ++i) values.push_back((i % 2 == 0 ? error : -error) * (i % 3 == 0 ? 1.1 : 1));
  return values;
}

/// The verdict for 20 training and 10 validation molecules with label 0.
std::string verdict(const Rows& before, const Sets& after, const Rows& unseen, Metric metric = Metric::mae) {
  return why_refit_is_rejected(metric, set_of(TaskKind::regression, {"logS"}, {}).task,
                               {before, unseen, after, Rows(20, 0), Rows(10, 0)});
}

TEST(RefitCheck, MuchWorsePartnerIsRejected) {
  EXPECT_EQ(verdict(off_by(0.1), {off_by(0.12)}, off_by(0.5, 10)), "");
  // The errors of 7 of 20 rows are a tenth larger, so the mean is 1.035 times the error.
  EXPECT_EQ(
      verdict(off_by(0.1), {off_by(2)}, off_by(0.5, 10)),
      "its mean loss on the training set is 2.070 for 'logS', compared with 0.1035 for the one trained without the "
      "validation set");
  EXPECT_EQ(verdict(off_by(2), {off_by(0.1)}, off_by(0.5, 10)), "") << "the retrained partner is better";
  // Squared errors: 1.3 times the error is 1.69 times the loss, and exceeds the first partner's validation loss.
  EXPECT_EQ(verdict(off_by(1), {off_by(1.3)}, off_by(1, 10)), "");
  EXPECT_NE(verdict(off_by(1), {off_by(1.3)}, off_by(1, 10), Metric::rmse), "");
}

TEST(RefitCheck, ComparesWithTheLossOnHeldOutMolecules) {
  // Four times the first partner's loss on the training set, but less than the first partner's validation loss.
  EXPECT_EQ(verdict(off_by(0.1), {off_by(0.4)}, off_by(0.5, 10)), "");
  EXPECT_NE(verdict(off_by(0.1), {off_by(0.6)}, off_by(0.5, 10)), "");
  Rows with_outlier = off_by(0.5, 10);
  with_outlier[3] = 1000;
  EXPECT_NE(verdict(off_by(0.1), {off_by(0.6)}, with_outlier), "")
      << "one outlier in the validation set changes nothing";
}

TEST(RefitCheck, OneBadRowDoesNotReject) {
  Rows after = off_by(0.1);
  after[7] = 500;  // the mean difference is 25, and so is its standard error
  EXPECT_EQ(verdict(off_by(0.1), {after}, off_by(0.5, 10)), "");
}

TEST(RefitCheck, NonFinitePredictionRejects) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity(), kNone = std::nan("");
  for (const double bad : {kInfinite, -kInfinite, kNone})
    for (std::size_t p = 0; p < 3; ++p) {
      Sets after{off_by(0.1), off_by(0.1), off_by(0.1)};
      EXPECT_EQ(verdict(off_by(0.1), after, off_by(0.5, 10)), "");
      after[p][5] = bad;
      EXPECT_EQ(verdict(off_by(0.1), after, off_by(0.5, 10)), "one of its predictions is not finite") << bad << p;
    }
}

TEST(RefitCheck, ChecksEveryTarget) {
  const Task task = set_of(TaskKind::regression, {"a", "b"}, {}).task;
  const auto both = [](const Rows& a, const Rows& b) {
    Rows rows;
    for (std::size_t i = 0; i < a.size(); ++i) rows.push_back(a[i]), rows.push_back(b[i]);
    return rows;
  };
  const auto verdict_with = [&](const Rows& valid_labels) {
    return why_refit_is_rejected(Metric::mae, task,
                                 {both(off_by(0.1), off_by(0.1)), both(off_by(0.5, 10), off_by(0.5, 10)),
                                  Sets{both(off_by(0.1), off_by(3))}, Rows(40, 0), valid_labels});
  };
  EXPECT_NE(verdict_with(Rows(20, 0)).find("for 'b'"), std::string::npos);
  EXPECT_EQ(verdict_with(both(Rows(10, 0), Rows(10, std::nan("")))), "") << "b has no label in the validation set";
}

TEST(RefitCheck, ClassesUseTheLogLoss) {
  const Task task = set_of(TaskKind::binary, {"active"}, {}).task;
  const auto verdict_for = [&](double right) {
    const Rows before(20, 0.9), unseen(10, 0.7);
    return why_refit_is_rejected(Metric::roc_auc, task, {before, unseen, {Rows(20, right)}, Rows(20, 1), Rows(10, 1)});
  };
  EXPECT_EQ(verdict_for(0.88), "");
  EXPECT_EQ(verdict_for(0.75), "") << "less than the first partner's validation loss";
  EXPECT_NE(verdict_for(0.3), "");
}

TEST(RobustShares, ClippingLimitsTheEffectOfAWrongLabel) {
  Rows labels, right, wrong;
  for (int i = 0; i < 40; ++i) {
    labels.push_back(i % 8);
    right.push_back(labels.back());
    wrong.push_back(labels.back() + (i % 2 == 0 ? -1 : 1));
  }
  MoleculeSet set = set_of(TaskKind::regression, {"y"}, labels);
  const auto share = [&] { return choose_shares(Metric::rmse, set.task, {right, wrong}, set.targets)[0][0]; };
  const double before = share();
  EXPECT_NEAR(before, 1, 1e-6);
  std::vector<std::int64_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  {
    const ClippedLabels clipped(set, label_limits(set, all), all);
    EXPECT_EQ(set.targets, labels);
    EXPECT_EQ(share(), before) << "nothing changes without an outlier";
  }
  set.targets[7] = 1000;  // instead of 7; the wrong predictor errs in this direction
  EXPECT_LT(share(), 0.51) << "without clipping, the outlier changes the share";
  const ClippedLabels clipped(set, label_limits(set, all), all);
  EXPECT_EQ(set.targets[7], 7);
  EXPECT_EQ(share(), before);
}

TEST(NearestLabels, UseTheMostSimilarWithExactLabels) {
  MoleculeSet set = set_of(TaskKind::regression, {"a", "b"}, {1, 0, 2, 0, std::nan(""), 0, 4, 0, 5, 0});
  set.bound = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  const std::vector<std::int64_t> train{0, 1, 2, 3, 4};
  EXPECT_EQ(nearest_labels(set, train, {0.1, 0.9, 0.8, 0.7, 1}, 4, 0, 3), (Rows{2, 1}));
  EXPECT_EQ(nearest_labels(set, train, {0.1, 0.9, 0.8, 0.7, 1}, 0, 0, 1), (Rows{5}));
}

}  // namespace
}  // namespace molgraph
