// The warning that a simple method is better than the model.
#include "apps/training/run/train_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Values = std::vector<double>;

constexpr double kUnlabelled = std::numeric_limits<double>::quiet_NaN();

/// Two training and two validation molecules with these labels [2 T].
LoadedData two_for_validation(std::vector<std::string> targets, const Values& train, const Values& valid) {
  LoadedData data;
  MolecularGraph carbon;
  carbon.features = data.set.featurizer.features;
  carbon.atoms.assign(9, 0);
  const auto width = static_cast<std::int64_t>(targets.size());
  data.set.task.units.assign(targets.size(), "");
  data.set.task.names = std::move(targets);
  for (std::int64_t g = 0; g < 4; ++g) {
    const auto first = (g < 2 ? train : valid).begin() + g % 2 * width;
    data.set.add(carbon, g, std::to_string(g), "C", Values(first, first + width));
    (g < 2 ? data.split.train : data.split.valid).push_back(g);
  }
  return data;
}

/// The warning, given the predictions of the model and of other methods for the validation molecules.
std::string warning_of(const LoadedData& data, const Values& model, const Values& nearest, const Values& trees,
                       Metric metric = Metric::mae, bool component = false) {
  TrainOptions options;
  options.training.metric = metric;
  options.training.steps = 1;
  const auto parts = [&](const Values& valid) {
    return PartPredictions{Values(2 * data.set.task.names.size(), 1.0), valid, Values{}};
  };
  return report_results(data, data.split, options, parts(model),
                        {{"nearest neighbour", "nearest_neighbour", parts(nearest)},
                         {kTreesName, "trees", parts(trees), component}})
      .warning;
}

TEST(TrainReport, WarnsOfBetterMethodsForOneTarget) {
  const LoadedData data = two_for_validation({"a"}, {300, 300}, {500, 600});
  EXPECT_EQ(
      warning_of(data, {504, 604}, {503, 603}, {505, 605}),
      "On the validation set, a simple method is better than the transformer (mae 4.000): nearest neighbour 3.000");
  EXPECT_EQ(warning_of(data, {504, 604}, {504, 604}, {505, 605}), "") << "an equal result is not better";
  EXPECT_EQ(warning_of(data, {700, 900}, {800, 900}, {505, 605}),
            "On the validation set, a simple method is better than the transformer (mae 250.0): trees 5.000; --blend "
            "combines both");
  EXPECT_EQ(warning_of(data, {701, 900}, {800, 900}, {505, 605}, Metric::mae, true),
            "On the validation set, a simple method is better than the blend (mae 250.5): mean predictor 250.0");
}

TEST(TrainReport, ComparesSeveralTargetsByRelativeErrors) {
  const LoadedData data = two_for_validation({"a", "b"}, {300, 3, 300, 3}, {500, 5, 600, 6});
  // MAE in a and b: mean predictor 250 and 2.5; model 10 and 0.1, (0.04 + 0.04) / 2; nearest neighbour 11 and 0.05,
  // (0.044 + 0.02) / 2; trees 5 and 0.4, (0.02 + 0.16) / 2. The mean of the raw errors would select the trees.
  const Values model{510, 5.1, 610, 6.1}, nearest{511, 5.05, 611, 6.05}, trees{505, 5.4, 605, 6.4};
  EXPECT_EQ(warning_of(data, model, nearest, trees),
            "On the validation set, a simple method is better than the transformer (mae divided by that of the mean "
            "predictor, mean over the targets, 0.04000): nearest neighbour 0.03200");
  // The RMSE of the mean predictor is sqrt(65000) = 254.95 and 2.5495.
  EXPECT_THAT(warning_of(data, model, nearest, trees, Metric::rmse),
              HasSubstr("(rmse divided by that of the mean predictor, mean over the targets, 0.03922): nearest "
                        "neighbour 0.03138"));
  EXPECT_EQ(warning_of(data, nearest, model, model), "");
  // R2 has no unit: its mean is compared.
  EXPECT_THAT(warning_of(data, model, nearest, trees, Metric::r2), HasSubstr("(r2 0.9600): nearest neighbour 0.97"));
}

TEST(TrainReport, LeavesOutTargetsThatTheMeanPredictorPredictsExactly) {
  // b is constant: the mean predictor is exact, and an error of 0 does not make another method better.
  const LoadedData data = two_for_validation({"a", "b"}, {300, 3, 300, 3}, {500, 3, 600, 3});
  EXPECT_EQ(warning_of(data, {510, 4, 610, 4}, {520, 3, 620, 3}, {511, 3, 611, 3}), "");
  EXPECT_THAT(warning_of(data, {510, 4, 610, 4}, {505, 9, 605, 9}, {511, 3, 611, 3}),
              HasSubstr("mean over the targets, 0.04000): nearest neighbour 0.02000"));
}

TEST(TrainReport, ComparesOnlyDefinedErrors) {
  const LoadedData one = two_for_validation({"a", "b"}, {300, 3, 300, 3}, {500, kUnlabelled, 600, kUnlabelled});
  EXPECT_THAT(warning_of(one, {510, 1, 610, 1}, {509, 9, 609, 9}, {511, 0, 611, 0}),
              AllOf(HasSubstr("(mae 10.0"), HasSubstr("nearest neighbour 9.0"), Not(HasSubstr("trees"))));
  const LoadedData two = two_for_validation({"a", "b"}, {300, 3, 300, 3}, {500, 5, 600, 6});
  // Without training labels, the mean predictor has no error in b.
  const LoadedData three = two_for_validation({"a", "b"}, {300, kUnlabelled, 300, kUnlabelled}, {500, 5, 600, 6});
  EXPECT_EQ(warning_of(three, {510, 1e6, 610, 1e6}, {511, kUnlabelled, 611, kUnlabelled}, {512, 0, 612, 0}), "");
  EXPECT_THAT(warning_of(three, {510, 0, 610, 0}, {509, kUnlabelled, 609, kUnlabelled}, {512, 0, 612, 0}),
              HasSubstr("mean over the targets, 0.04000): nearest neighbour 0.03600"));
  EXPECT_EQ(warning_of(three, {510, 4, 610, 4}, {500, kUnlabelled, 600, kUnlabelled}, {512, 4, 612, 4}, Metric::r2), "")
      << "the mean over other targets";
  EXPECT_EQ(warning_of(two, {510, kUnlabelled, 610, 6.1}, {500, 5, 600, 6}, {500, 5, 600, 6}), "")
      << "the model has no error in b";
}

}  // namespace
}  // namespace molgraph
