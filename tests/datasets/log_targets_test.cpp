#include "datasets/log_targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;
using testing::message_of;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// `count` labels: 10^0, ..., 10^decades in equal steps of the exponent.
std::vector<double> powers(int count, double decades) {
  std::vector<double> labels;
  for (int k = 0; k < count; ++k) labels.push_back(std::pow(10.0, decades * k / (count - 1)));
  return labels;
}

TEST(LogTargets, SkewedLabelsOverADecade) {
  EXPECT_TRUE(are_skewed_over_a_decade(powers(100, 2)));
  EXPECT_FALSE(are_skewed_over_a_decade(powers(49, 2))) << "fewer than 50 labels";
  EXPECT_TRUE(are_skewed_over_a_decade(powers(50, 2)));
  // The percentiles of 101 labels are those with the numbers 5 and 95: 0.9 of all decades lie between them.
  EXPECT_TRUE(are_skewed_over_a_decade(powers(101, 1.12)));
  EXPECT_FALSE(are_skewed_over_a_decade(powers(101, 1.10))) << "less than a factor of 10";
  std::vector<double> even;
  for (int k = 1; k <= 100; ++k) even.push_back(k);
  EXPECT_FALSE(are_skewed_over_a_decade(even)) << "symmetric without logarithms";
}

TEST(LogTargets, MissingLabelsDoNotCountAndAllMustBePositive) {
  std::vector<double> labels = powers(100, 2);
  labels.insert(labels.end(), 50, kMissing);
  EXPECT_TRUE(are_skewed_over_a_decade(labels));
  labels.push_back(0);
  EXPECT_FALSE(are_skewed_over_a_decade(labels));
}

/// Molecules without atoms, with the targets `skewed`, `even` and the class `toxic`.
LoadedData data_of(int molecules) {
  LoadedData data;
  data.set.task.names = {"skewed", "even", "toxic"};
  data.set.task.units = {"h", "", ""};
  data.set.task.set_kinds({TaskKind::regression, TaskKind::regression, TaskKind::binary});
  const std::vector<double> labels = powers(molecules, 2);
  for (int g = 0; g < molecules; ++g) {
    data.set.row.push_back(2 * g);
    data.set.targets.insert(data.set.targets.end(), {labels[static_cast<std::size_t>(g)], 1.0 * g, g % 2 * 1.0});
    (g % 10 == 0 ? data.split.test : data.split.train).push_back(g);
  }
  return data;
}

TEST(LogTargets, AreChosenByTheLabelsOutsideTheTestSet) {
  LoadedData data = data_of(100);
  EXPECT_THAT(skewed_targets(data), ElementsAre(true, false, false));
  for (const std::int64_t g : data.split.test) data.set.targets[static_cast<std::size_t>(g) * 3] = 50;
  EXPECT_THAT(skewed_targets(data), ElementsAre(true, false, false));
  EXPECT_THAT(data.notes, ::testing::IsEmpty());
  std::swap(data.split.calibration, data.split.test);
  EXPECT_THAT(skewed_targets(data), ElementsAre(true, false, false)) << "nor by those of the calibration set";
  std::swap(data.split.calibration, data.split.test);
  data.set.targets[static_cast<std::size_t>(data.split.test[3]) * 3] = -1;
  EXPECT_THAT(skewed_targets(data), ElementsAre(false, false, false)) << "a test label has no logarithm";
  EXPECT_THAT(data.notes, ElementsAre(HasSubstr("because 1 label is 0 or less")));
}

TEST(LogTargets, Names) {
  const Task task = data_of(1).set.task;
  EXPECT_THAT(log_targets_of({"none"}, task), ElementsAre(false, false, false));
  EXPECT_THAT(log_targets_of({"all"}, task), ElementsAre(true, true, false));
  EXPECT_THAT(log_targets_of({"even"}, task), ElementsAre(false, true, false));
  EXPECT_THAT(message_of<UsageError>([&] { log_targets_of({"evil"}, task); }),
              HasSubstr("'evil' is not a target; choose from skewed, even, toxic"));
  EXPECT_THAT(message_of<UsageError>([&] { log_targets_of({"toxic"}, task); }), HasSubstr("not a regression target"));
  EXPECT_THAT(message_of<UsageError>([&] { log_targets_of({"all"}, {.kind = TaskKind::binary, .names = {"a"}}); }),
              HasSubstr("there is no regression target"));
}

TEST(LogTargets, LabelsBecomeLogarithmsAndBack) {
  MoleculeSet set = data_of(3).set;
  set.targets = {100, 5, 1, kMissing, 6, 0, 0.0023, 7, 1};
  take_logarithms({true, false, false}, set);
  EXPECT_THAT(set.targets, ElementsAre(DoubleEq(2), 5, 1, IsNan(), 6, 0, DoubleNear(-2.638272163982407, 1e-15), 7, 1));
  EXPECT_EQ(set.task.in_table_unit(0, set.targets[6]), 0.0023) << "exactly";
  EXPECT_EQ(set.task.in_table_unit(1, 2.5), 2.5);
  EXPECT_DOUBLE_EQ(set.task.in_model_unit(0, 1000), 3);
  EXPECT_THAT(set.task.in_model_unit(0, 0), IsNan());
  EXPECT_EQ(set.task.model_unit(0), "log10(h)");
  EXPECT_EQ(set.task.model_name(0), "log10(skewed)");
  EXPECT_EQ(set.task.model_name(1), "even");
  EXPECT_EQ(set.task.model_unit(1), "");
  EXPECT_EQ((Task{.names = {"a"}, .units = {""}, .logarithmic = {true}}).model_unit(0), "log10");
}

TEST(LogTargets, ALabelOfZeroIsAnErrorWithItsRow) {
  MoleculeSet set = data_of(3).set;
  EXPECT_THAT(message_of<DataError>([&] {
                take_logarithms({false, true, false}, set);
              }),
              HasSubstr("row 1: the label of the target 'even' must be positive for --log-targets (0)"));
}

}  // namespace
}  // namespace molgraph
