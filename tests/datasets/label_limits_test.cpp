// Limits for outlier labels, compared with hand calculations.
#include "datasets/label_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace molgraph {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// One target, with one molecule per label.
MoleculeSet labelled(const std::vector<double>& labels, TaskKind kind = TaskKind::regression) {
  MoleculeSet set;
  set.task.kind = kind;
  set.task.names = {"y"};
  set.task.units = {""};
  set.row.resize(labels.size());
  set.targets = labels;
  return set;
}

std::vector<std::int64_t> all_of(const MoleculeSet& set) {
  std::vector<std::int64_t> all(set.row.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

LabelLimits limits_of_labels(const std::vector<double>& labels) {
  const MoleculeSet set = labelled(labels);
  return label_limits(set, all_of(set)).at(0);
}

/// first, first + 1 ... last.
std::vector<double> from_to(int first, int last) {
  std::vector<double> labels(static_cast<std::size_t>(last - first + 1));
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}
std::vector<double> up_to(int last) { return from_to(1, last); }

std::vector<double> with(std::vector<double> labels, const std::vector<double>& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

void expect_range(const LabelLimits& limits, double low, double high) {
  EXPECT_EQ(limits.low, low);
  EXPECT_EQ(limits.high, high);
}

// The median of -9 ... 11 is 1. The ten labels on each side are 1 ... 10 away; the median of these is 5.5.
TEST(LabelLimits, MatchTheHandCalculation) {
  const LabelLimits limits = limits_of_labels(from_to(-9, 11));
  EXPECT_EQ(limits.median, 1);
  EXPECT_EQ(limits.below, 5.5);
  EXPECT_EQ(limits.above, 5.5);
  expect_range(limits, -9, 11);
  EXPECT_FALSE(limits.is_suspicious(-9));
  EXPECT_FALSE(limits.is_suspicious(55)) << "54 away, which is less than ten deviations";
  EXPECT_TRUE(limits.is_suspicious(57)) << "56 away";
  EXPECT_TRUE(limits.is_suspicious(-55)) << "56 away";
  EXPECT_FALSE(limits.is_suspicious(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(limits.deviations(56), 10);
}

// The median of 1 ... 21 and 1000 is 11.5. The labels above it are 12 ... 21 and 1000. Their median, 17, is 5.5 away.
TEST(LabelLimits, IsolatedLabelIsSuspicious) {
  const LabelLimits limits = limits_of_labels(with(up_to(21), {1000}));
  EXPECT_EQ(limits.median, 11.5);
  EXPECT_EQ(limits.above, 5.5);
  expect_range(limits, 1, 21);
  EXPECT_TRUE(limits.is_suspicious(1000));
  EXPECT_NEAR(limits.deviations(1000), 988.5 / 5.5, 1e-12);
}

TEST(LabelLimits, OutliersOnBothSidesAreSuspicious) {
  // -800 has no gap to -700, but is farther from the median.
  const LabelLimits limits = limits_of_labels(with(up_to(41), {-700, -800, 900}));
  expect_range(limits, 1, 41);
  for (const double outlier : {-700., -800., 900.}) EXPECT_TRUE(limits.is_suspicious(outlier)) << outlier;
}

TEST(LabelLimits, FirstGapBeyondTenDeviationsDecides) {
  // The deviation above the median 1.5 is 11. 180 is more than ten deviations away and 9 times as far as 20. The
  // other two are farther away.
  const std::vector<double> regular = from_to(-20, 20);
  expect_range(limits_of_labels(with(regular, {180, 230, 980})), -20, 20);
  // 80 is within ten deviations; 130 is less than twice as far as 80.
  expect_range(limits_of_labels(with(regular, {80, 130, 980})), -20, 130);
  // No label of this chain is twice as far away as the one before it.
  std::vector<double> chain = regular;
  for (double step = 60; step < 700; step *= 1.3) chain.push_back(step - 21);
  const LabelLimits limits = limits_of_labels(chain);
  EXPECT_EQ(limits.high, *std::ranges::max_element(chain));
  EXPECT_EQ(limits_of_labels(with(chain, {1e5})).high, limits.high);
}

TEST(LabelLimits, SkewedColumnHasNoSuspiciousLabel) {
  // Logarithms from -9 to 9, like those of raw IC50 values. 960 is ten deviations away; the largest label is 8,103.
  std::vector<double> labels;
  for (int i = -60; i <= 60; ++i) labels.push_back(std::exp(0.15 * i));
  const LabelLimits limits = limits_of_labels(labels);
  EXPECT_GT(limits.deviations(labels.back()), 50) << "deviations alone would make it suspicious";
  expect_range(limits, labels.front(), labels.back());
  for (const double label : labels) EXPECT_FALSE(limits.is_suspicious(label)) << label;
}

// e^-4.5, e^-4.35 ... e^4.5: the median of the logarithms is 0, and the deviation on each side is 2.325. The largest
// label, 90, is changed to 1,000. It is at least twice as far as the previous label and far more than ten deviations
// away, but its logarithm is only 6.9, which is less than 7 deviations.
TEST(LabelLimits, LargestLabelOfASkewedColumnMayBeIsolated) {
  std::vector<double> labels;
  for (int i = -30; i <= 30; ++i) labels.push_back(std::exp(0.15 * i));
  labels.back() = 1000;
  const LabelLimits limits = limits_of_labels(labels);
  EXPECT_EQ(limits.high, 1000);
  EXPECT_GT(limits.deviations(1000), 90);
  // With a label below 0, logarithms are not used.
  labels[0] = -1;
  EXPECT_LT(limits_of_labels(labels).high, 100);
}

// The logarithms of the 30 labels above the median e^3 are larger by 0.01 ... 0.3; the median of these is 0.155. A
// label is far from e^3 * e^1.085 on (7 * 0.155 = 1.085), which is 1.96 medians away. Ten deviations on the linear
// scale are 1.68 medians.
TEST(LabelLimits, LogarithmsAreUsedIfAllLabelsHaveTheSameSign) {
  std::vector<double> labels;
  for (int i = -30; i <= 30; ++i) labels.push_back(std::exp(3 + 0.01 * i));
  const double median = std::exp(3.0);
  LabelLimits limits = limits_of_labels(labels);
  EXPECT_NEAR(limits.far_above, median * std::expm1(1.085), 1e-3 * median);
  EXPECT_GT(limits.far_below, median) << "a label ten deviations below the median would be below 0";
  EXPECT_TRUE(limits.is_suspicious(100 * median));
  EXPECT_FALSE(limits.is_suspicious(2.9 * median)) << "1.9 medians away; ten deviations are 1.7 medians";
  for (double& label : labels) label = -label;
  limits = limits_of_labels(labels);
  EXPECT_TRUE(limits.is_suspicious(-100 * median)) << "all labels are below 0";
  EXPECT_NEAR(limits.far_below, median * std::expm1(1.085), 1e-3 * median);
}

TEST(LabelLimits, NoLimitIfTheDeviationIsZero) {
  expect_range(limits_of_labels(std::vector<double>(30, 2)), -kInfinite, kInfinite);
  // Only one label is above the median, so the deviation of all labels is used, which is 0.
  const LabelLimits limits = limits_of_labels(with(std::vector<double>(30, 2), {500}));
  expect_range(limits, -kInfinite, kInfinite);
  EXPECT_FALSE(limits.is_suspicious(500));
}

// 16 labels are 5, fifteen are above and five are below. Five are fewer than ten, so the deviation of all labels is
// used below the median.
TEST(LabelLimits, SideWithFewLabelsUsesTheDeviationOfAllLabels) {
  std::vector<double> labels(16, 5);
  for (int i = 1; i <= 15; ++i) labels.push_back(5 + i);
  for (const double below : {4., 3., 2., 1., -200.}) labels.push_back(below);
  const LabelLimits limits = limits_of_labels(labels);
  EXPECT_EQ(limits.median, 5);
  EXPECT_EQ(limits.above, 8);
  EXPECT_EQ(limits.below, 1.5) << "of the 36 distances, 16 are 0, followed by 1, 1, 2, 2: the 18th is 1, the 19th is 2";
  expect_range(limits, 1, 20);
}

TEST(LabelLimits, FewLabelsHaveNoLimits) {
  const LabelLimits too_few = limits_of_labels(with(up_to(18), {1e6}));
  expect_range(too_few, -kInfinite, kInfinite);
  EXPECT_FALSE(too_few.is_suspicious(1e6));
  expect_range(limits_of_labels(with(up_to(19), {1e6})), 1, 19);
}

TEST(LabelLimits, ManyOutliersAreNotSuspicious) {
  expect_range(limits_of_labels(with(up_to(41), {1e4, 1e4, 1e4})), 1, 41);
  expect_range(limits_of_labels(with(up_to(41), {1e4, 1e4, 1e4, 1e4})), 1, 1e4);
  // 1 % of 400 labels is 4 labels.
  expect_range(limits_of_labels(with(up_to(396), {1e5, 1e5, 1e5, 1e5})), 1, 396);
  expect_range(limits_of_labels(with(up_to(394), {1e5, 1e5, 1e5, 1e5, 1e5})), 1, 1e5);
}

TEST(LabelLimits, UseOnlyTheGivenMoleculesAndExactLabels) {
  MoleculeSet set = labelled(with(up_to(21), {1000, 2000, std::numeric_limits<double>::quiet_NaN()}));
  set.bound.assign(set.row.size(), 0);
  set.bound[21] = 1;  // >1000
  std::vector<std::int64_t> known = all_of(set);
  std::erase(known, 22);
  const LabelLimits limits = label_limits(set, known).at(0);
  EXPECT_EQ(limits.median, 11);
  expect_range(limits, 1, 21);
}

TEST(LabelLimits, ClassesAndComputedTargetsHaveNoLimits) {
  const MoleculeSet classes = labelled(with(up_to(41), {900}), TaskKind::multiclass);
  const std::vector<LabelLimits> limits = label_limits(classes, all_of(classes));
  ASSERT_EQ(limits.size(), 1u);
  expect_range(limits[0], -kInfinite, kInfinite);
  MoleculeSet corpus = labelled(with(up_to(40), {1e6}));
  corpus.computed_targets.assign(corpus.targets.begin(), corpus.targets.end());
  corpus.targets.clear();
  EXPECT_TRUE(label_limits(corpus, all_of(corpus)).empty());
  const ClippedLabels unchanged(corpus, label_limits(corpus, all_of(corpus)), all_of(corpus));
  EXPECT_EQ(corpus.computed_targets.back(), 1e6F);
}

TEST(ClippedLabels, ClipsLabelsDuringItsLifetime) {
  const std::vector<double> before = with(up_to(41), {-700, 900, std::numeric_limits<double>::quiet_NaN(), 950, 900});
  MoleculeSet set = labelled(before);
  set.bound.assign(set.row.size(), 0);
  set.bound[44] = 1;  // >950
  std::vector<std::int64_t> known = all_of(set);
  known.pop_back();
  const auto same_as_before = [&] {
    return std::ranges::equal(set.targets, before, [](double a, double b) { return a == b || (a != a && b != b); });
  };
  {
    const ClippedLabels clipped(set, label_limits(set, known), known);
    EXPECT_EQ(set.targets[0], 1);
    EXPECT_EQ(set.targets[41], 1);
    EXPECT_EQ(set.targets[42], 41);
    EXPECT_TRUE(std::isnan(set.targets[43]));
    EXPECT_EQ(set.targets[44], 950) << "censored";
    EXPECT_EQ(set.targets[45], 900) << "not one of the given molecules";
    const ClippedLabels again(set, label_limits(set, known), known);
    EXPECT_EQ(set.targets[42], 41);
  }
  EXPECT_TRUE(same_as_before());
  ClippedLabels clipped(set, label_limits(set, known), known);
  EXPECT_FALSE(same_as_before());
  clipped.restore();
  EXPECT_TRUE(same_as_before());
  const ClippedLabels without(set, {}, known);
  EXPECT_TRUE(same_as_before());
}

}  // namespace
}  // namespace molgraph
