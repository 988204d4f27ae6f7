// Outlier labels: detection, warnings, storage in run.json, and target scaling without their influence.
#include "apps/training/run/label_check.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "apps/training/loop/evaluate.hpp"
#include "featurize/smiles/smiles.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

/// Chains of 1, 2 ... 30 carbons with labels 1, 2 ... 30. The last four are in the validation set, the test set, the
/// calibration set and no set.
LoadedData chains() {
  LoadedData data;
  data.set.task = {.kind = TaskKind::regression, .names = {"y"}, .units = {""}};
  const Featurizer featurizer(data.set.featurizer);
  for (std::int64_t k = 0; k < 30; ++k) {
    const std::string smiles(static_cast<std::size_t>(k + 1), 'C');
    data.set.add(std::get<MolecularGraph>(featurizer.smiles(smiles)), k, "m" + std::to_string(k), smiles,
                 {static_cast<double>(k + 1)});
    if (k < 26) data.split.train.push_back(k);
  }
  data.split.valid = {26}, data.split.test = {27}, data.split.calibration = {28};
  return data;
}

TEST(LabelCheck, FindsNothingInEvenlySpacedLabels) {
  EXPECT_TRUE(suspicious_labels(chains(), Duplicates::mean, 0, 1).empty());
  EXPECT_TRUE(suspicious_text({}, false).empty());
}

TEST(LabelCheck, AllSetsUseTheLimitsOfTrainingAndValidation) {
  LoadedData data = chains();
  data.set.targets[3] = 3000, data.set.targets[26] = -5000;
  data.set.targets[27] = 2000, data.set.targets[28] = 4000, data.set.targets[29] = 1e6;
  const std::vector<SuspiciousLabel> found = suspicious_labels(data, Duplicates::mean, 0, 1);
  ASSERT_EQ(found.size(), 4u) << "the last molecule is in no set";
  // -5000, 1, 2, 3, 5 ... 26, 3000: the median is 14, the median deviation 7 on both sides.
  EXPECT_EQ(found[0].part, "valid");
  EXPECT_EQ(found[0].value, -5000);
  EXPECT_EQ(found[0].median, 14);
  EXPECT_EQ(found[0].deviations, 5014 / 7.0);
  EXPECT_EQ(found[0].row, 27);
  EXPECT_EQ(found[0].id, "m26");
  EXPECT_EQ(found[1].part, "calibration");
  EXPECT_EQ(found[2].part, "train");
  EXPECT_EQ(found[2].row, 4);
  EXPECT_EQ(found[3].part, "test");
  // The most similar chains are the next shorter and longer ones. Outliers among them keep their labels.
  ASSERT_EQ(found[2].neighbours.size(), 3u);
  for (const double label : found[2].neighbours) EXPECT_LE(label, 8);
  for (const SuspiciousLabel& label : found) EXPECT_GT(label.deviations, 10);
}

TEST(LabelCheck, FoldsAreCheckedTogether) {
  LoadedData data = chains();
  data.set.targets[3] = 3000;
  for (std::int64_t test = 0; test < 3; ++test) {
    Split split;
    for (std::int64_t g = 0; g < 30; ++g) (g % 3 == test ? split.test : split.train).push_back(g);
    data.folds.push_back(split);
  }
  data.split = data.folds.front();
  const std::vector<SuspiciousLabel> found = suspicious_labels(data, Duplicates::mean, 0, 1);
  ASSERT_EQ(found.size(), 1u) << "once, although it is in two training sets and a test set";
  EXPECT_EQ(found[0].part, "");
  EXPECT_EQ(found[0].median, 16.5) << "of 1, 2, 3, 5 ... 30 and 3000";
  EXPECT_EQ(found[0].row, 4);
}

TEST(LabelCheck, FindsNothingInACorpus) {
  LoadedData data = chains();
  data.set.targets[3] = 3000;
  data.set.computed_targets.assign(data.set.targets.begin(), data.set.targets.end());
  data.set.targets.clear();
  EXPECT_TRUE(suspicious_labels(data, Duplicates::mean, 0, 1).empty());
}

TEST(LabelCheck, NamesTheRowsOfAMergedLabel) {
  LoadedData data = chains();
  data.set.targets[3] = -1748;
  const auto row = [](std::int64_t number, double value, double used) {
    return RepeatedRow{.row = number, .first = 3, .id = "", .smiles = "CCCC", .values = {{value}}, .used = {{used}}};
  };
  data.repeated = {row(3, 4, -1748), row(40, -3500, -1748)};
  EXPECT_EQ(suspicious_labels(data, Duplicates::mean, 0, 1).at(0).merged, "the mean of rows 4, 41 (4.000, -3,500)");
  // With the rule keep, each row keeps its own label.
  data.repeated = {row(3, -1748, -1748), row(40, 4, 4)};
  EXPECT_EQ(suspicious_labels(data, Duplicates::keep, 0, 1).at(0).merged, "");
  // The first row has no label.
  data.repeated = {row(3, std::nan(""), -1748), row(40, -1748, -1748)};
  EXPECT_EQ(suspicious_labels(data, Duplicates::median, 0, 1).at(0).merged, "the median of row 41 (-1,748)");
}

TEST(LabelCheck, WarningListsAtMostTenLabels) {
  SuspiciousLabel label{.target = "logS",
                        .value = -350,
                        .row = 17,
                        .id = "A-3",
                        .part = "valid",
                        .median = -2.86,
                        .deviations = 231.46,
                        .neighbours = {-3.2, -4, -3.5}};
  const std::vector<std::string> one = suspicious_text({label}, false);
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0].find("1 outlier label, which may be a typing error"), 0u) << one[0];
  EXPECT_NE(one[0].find("--clip-labels is given"), std::string::npos) << one[0];
  EXPECT_EQ(one[1],
            "'logS' -350.0 (row 17, id A-3, validation set): 231.5 median deviations from the median -2.860; the most "
            "similar molecules have -3.200, -4.000, -3.500");
  label.id = "17", label.part = "", label.merged = "the mean of rows 17, 18 (-3, -697)", label.neighbours = {};
  const std::vector<std::string> eleven = suspicious_text(std::vector<SuspiciousLabel>(11, label), true);
  ASSERT_EQ(eleven.size(), 12u);
  EXPECT_EQ(eleven[0].find("11 outlier labels"), 0u);
  EXPECT_NE(eleven[0].find("(--clip-labels)"), std::string::npos);
  EXPECT_EQ(
      eleven[1],
      "'logS' -350.0 (row 17), the mean of rows 17, 18 (-3, -697): 231.5 median deviations from the median -2.860");
  EXPECT_EQ(eleven[11].find("and 1 more"), 0u);
}

TEST(LabelCheck, RecordContainsThemUntilItIsStripped) {
  const test::Scratch scratch;
  const std::string folder = scratch.path("R");
  std::filesystem::create_directories(folder);
  RunRecord record{.members = 0, .finished = "2026-01-01T00:00:00Z", .program = "molgraph"};
  record.explained = true;
  write_run_record(folder, record);
  const std::string without = scratch.read("R/run.json");
  record.suspicious_labels = {
      {.target = "a", .value = -350.125, .row = 3, .id = "x", .part = "test", .median = 2.5, .deviations = 141.25},
      {.target = "b", .value = 1e9, .row = 4, .id = "y", .merged = "the mean", .median = -1, .neighbours = {1, 2.5}}};
  write_run_record(folder, record);
  const std::vector<SuspiciousLabel> back = read_run_record(folder)->suspicious_labels;
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].target, "a");
  EXPECT_EQ(back[0].value, -350.125);
  EXPECT_EQ(back[0].row, 3);
  EXPECT_EQ(back[0].id, "x");
  EXPECT_EQ(back[0].part, "test");
  EXPECT_EQ(back[0].merged, "");
  EXPECT_EQ(back[0].median, 2.5);
  EXPECT_EQ(back[0].deviations, 141.25);
  EXPECT_TRUE(back[0].neighbours.empty());
  EXPECT_EQ(back[1].part, "");
  EXPECT_EQ(back[1].merged, "the mean");
  EXPECT_EQ(back[1].neighbours, (std::vector<double>{1, 2.5}));
  strip_run_record(folder);
  EXPECT_EQ(scratch.read("R/run.json"), without);
  strip_run_record(folder);
  EXPECT_EQ(scratch.read("R/run.json"), without);
}

TEST(LabelCheck, OutliersAreClippedForTargetScaling) {
  LoadedData data = chains();
  const std::vector<std::int64_t>& train = data.split.train;  // 1 ... 26
  const TargetStatistics plain = target_scaling_of(data.set, train), all = target_statistics(data.set, train);
  EXPECT_EQ(plain.mean, all.mean);
  EXPECT_EQ(plain.deviation, all.deviation);
  EXPECT_EQ(plain.mean.at(0), 13.5);
  data.set.targets[25] = 26000;  // clipped to 25
  EXPECT_NEAR(target_scaling_of(data.set, train).mean.at(0), 13.5 - 1.0 / 26, 1e-12);
  EXPECT_GT(target_statistics(data.set, train).mean.at(0), 1000);
}

TEST(LabelCheck, ScalingDoesNotDependOnTheUnit) {
  LoadedData data = chains();
  const double deviation = target_scaling_of(data.set, data.split.train).deviation.at(0);
  for (double& label : data.set.targets) label *= 1e-15;
  EXPECT_NEAR(target_scaling_of(data.set, data.split.train).deviation.at(0) / 1e-15, deviation, 1e-9 * deviation);
  for (const double constant : {0.0, 0.1, 1e6 / 3}) {
    std::ranges::fill(data.set.targets, constant);
    EXPECT_EQ(target_scaling_of(data.set, data.split.train).deviation.at(0), 1) << constant;
  }
}

}  // namespace
}  // namespace molgraph
