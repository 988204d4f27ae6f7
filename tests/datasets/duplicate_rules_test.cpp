// Merging of the labels of a duplicate molecule.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "datasets/duplicates.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Merged label of exact labels with equal weights.
double merged(const std::vector<double>& values, bool classes, Duplicates rule) {
  std::vector<Label> labels;
  for (const double value : values) labels.push_back({value, 0});
  return merged_label(labels, std::vector<float>(values.size(), 1), classes, rule).value;
}

TEST(DuplicateRules, MergeNumbersAndClasses) {
  using D = Duplicates;
  EXPECT_EQ(merged({1, 2, 6}, false, D::mean), 3);
  EXPECT_EQ(merged({1, 2, 6}, false, D::median), 2);
  EXPECT_EQ(merged({1, 2, 6, 10}, false, D::median), 4);
  EXPECT_EQ(merged({5, 2, 6}, false, D::drop), 5);
  EXPECT_EQ(merged({kNaN, 2, kNaN, 6}, false, D::mean), 4) << "missing labels are left out";
  EXPECT_TRUE(std::isnan(merged({kNaN, 2}, false, D::drop))) << "the first row, unchanged";
  EXPECT_TRUE(std::isnan(merged({kNaN, kNaN}, false, D::mean)));
  EXPECT_EQ(merged({0.1, 0.1, 0.1}, false, D::mean), 0.1) << "equal values are unchanged";
  EXPECT_EQ(merged({1e308, 1e308}, false, D::mean), 1e308);
  EXPECT_EQ(merged({1, 0, 1}, true, D::mean), 1);
  EXPECT_EQ(merged({2, 0, 1, 2}, true, D::median), 2);
  EXPECT_TRUE(std::isnan(merged({1, 0}, true, D::mean))) << "a tie is a missing label";
  EXPECT_EQ(merged({1, 0, kNaN, 0}, true, D::mean), 0);
  EXPECT_EQ(duplicates_from_string("median"), D::median);
  EXPECT_THROW(duplicates_from_string("average"), UsageError);
}

TEST(DuplicateRules, MergeLimits) {
  const auto text = [](const std::vector<Label>& labels, Duplicates rule = Duplicates::mean) {
    const Label label = merged_label(labels, std::vector<float>(labels.size(), 1), false, rule);
    return std::to_string(label.bound) + " " + std::to_string(label.value);
  };
  EXPECT_EQ(text({{50, 1}, {4, 0}, {6, 0}, {kNaN, 0}}), "0 5.000000") << "only exact labels count";
  EXPECT_EQ(text({{50, 1}, {100, 1}, {20, 1}}), "1 100.000000") << "the tightest limit";
  EXPECT_EQ(text({{5, -1}, {kNaN, 0}, {2, -1}}, Duplicates::median), "-1 2.000000");
  EXPECT_EQ(text({{50, 1}, {100, -1}}), "0 nan") << "upper and lower limits give a missing label";
  EXPECT_EQ(text({{50, 1}, {4, 0}}, Duplicates::drop), "1 50.000000") << "the first row";
}

TEST(DuplicateRules, ApplyWeights) {
  const auto merged = [](const std::vector<double>& values, const std::vector<float>& weights, bool classes = false) {
    std::vector<Label> labels;
    for (const double value : values) labels.push_back({value, 0});
    return merged_label(labels, weights, classes, Duplicates::mean).value;
  };
  EXPECT_EQ(merged({1, 5}, {3, 1}), 2);
  EXPECT_EQ(merged({1, 5, 9}, {1, 1, 0}), 3) << "weight 0 does not count";
  EXPECT_EQ(merged({1, 5}, {0, 0}), 3) << "unless all weights are 0";
  EXPECT_EQ(merged({kNaN, 5}, {3, 0}), 5);
  EXPECT_EQ(merged({1, 0, 0}, {3, 1, 1}, true), 1) << "weighted votes";
  EXPECT_TRUE(std::isnan(merged({1, 0, 0}, {2, 1, 1}, true)));
}

}  // namespace
}  // namespace molgraph
