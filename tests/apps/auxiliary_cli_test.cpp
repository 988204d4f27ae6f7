// Targets that are learned beside the reported ones, as people train with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/system/readable.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny = " --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --from none --no-report --epochs 3 ";
const std::string kAlone = kTiny + "--no-baselines --no-blend ";

class AuxiliaryCli : public ::testing::Test {
 protected:
  /// Chains with an end each. Rows from 60 are valid, from 80 test; logD of those is `outside`, that of the others
  /// grows with the chain times `slope`. A fifth of the rows has no label of y.
  void write(const std::string& name, const std::string& outside, int slope = 1) {
    std::string text = "smiles,y,logD,toxic,part\n";
    const char* ends[] = {"O", "N", "c1ccccc1", "C1CC1"};
    for (int k = 0; k < 100; ++k)
      text += std::string(static_cast<std::size_t>(1 + k / 4), 'C') + ends[k % 4] + "," +
              (k % 5 == 0 ? "" : std::to_string(k % 7) + ".5") + "," +
              (k < 60 ? std::to_string(slope * (k / 4)) + "." + std::to_string(k % 4) : outside) + "," +
              (k % 4 < 2 ? "yes" : "no") + "," +
              (k < 60   ? "train"
               : k < 80 ? "val"
                        : "test") +
              "\n";
    scratch.write(name, text);
  }
  void SetUp() override { write("t.csv", "1.5"); }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  std::string train(const std::string& arguments, const std::string& how = kAlone) {
    const ShellResult result = run("molgraph-train " + arguments + how);
    EXPECT_EQ(result.code, 0) << arguments << "\n" << result.err;
    return result.err;
  }
  std::string test_predictions(const std::string& folder) { return scratch.read(folder + "/test_predictions.csv"); }
  Scratch scratch;
};

const std::string kBoth = " --target-columns y --auxiliary-targets logD toxic --splits-column part ";

TEST_F(AuxiliaryCli, AreLearnedAndNotReported) {
  const std::string log = train("t.csv -o A" + kBoth);
  EXPECT_THAT(log, HasSubstr("Auxiliary targets (trained, but not predicted): logD, toxic"));
  EXPECT_THAT(log, HasSubstr("Targets (regression): y"));
  train("t.csv -o B --target-columns y --splits-column part ");
  EXPECT_EQ(lines_of(test_predictions("A"))[0], lines_of(test_predictions("B"))[0]);
  EXPECT_THAT(scratch.read("A/results.csv"), Not(HasSubstr("logD")));
  const auto record = nlohmann::json::parse(scratch.read("A/run.json"));
  EXPECT_EQ(record.at("auxiliary_targets"), (std::vector<std::string>{"logD", "toxic"}));
  EXPECT_FALSE(nlohmann::json::parse(scratch.read("B/run.json")).contains("auxiliary_targets"));
  EXPECT_THAT(run("molgraph-info A").out, HasSubstr("; auxiliary targets logD, toxic"));
  ASSERT_EQ(run("molgraph-score -m A -i t.csv -o scored.csv").code, 0);
  EXPECT_THAT(lines_of(scratch.read("scored.csv"))[0],
              AllOf(HasSubstr("y_pred"), Not(HasSubstr("logD_pred")), Not(HasSubstr("toxic_pred"))));
}

TEST_F(AuxiliaryCli, TheTrainingPartAndNothingElseTeachesThem) {
  write("outside.csv", "-400");
  write("inside.csv", "1.5", -1);
  train("t.csv -o A" + kBoth);
  train("outside.csv -o B" + kBoth);
  train("inside.csv -o C" + kBoth);
  EXPECT_EQ(test_predictions("A"), test_predictions("B"));
  EXPECT_EQ(scratch.read("A/metrics.csv"), scratch.read("B/metrics.csv"));
  EXPECT_NE(test_predictions("A"), test_predictions("C"));
}

// Of 48 labels of y, 60 of logD and 60 of toxic in the training part each weighs 1 and 0.2 over the mean of all.
TEST_F(AuxiliaryCli, TheLogShowsTheirWeights) {
  const double mean = (48 + 0.2 * 120) / 168;
  EXPECT_THAT(train("t.csv -o A" + kBoth),
              HasSubstr(text("y %.4g, logD %.4g, toxic %.4g", 1 / mean, 0.2 / mean, 0.2 / mean)));
}

TEST_F(AuxiliaryCli, AStartThatHasLearnedATestMoleculeIsNamed) {
  train("t.csv -o A --target-columns y --auxiliary-targets logD --seed 1 ");
  EXPECT_THAT(
      train("t.csv -o B --from A --target-columns logD --seed 2 ", "--epochs 1 --no-blend --no-baselines --no-report "),
      HasSubstr("the test results will be too optimistic"));
  EXPECT_THAT(
      train("t.csv -o C --from A --target-columns y --auxiliary-targets toxic --scale-targets --splits-column part ",
            "--epochs 1 --no-blend --no-baselines --no-report "),
      HasSubstr("with a new head"));
}

TEST_F(AuxiliaryCli, GoOnAndGoWithPartnersFoldsAndRefits) {
  // A finished run that is gone on with trains nothing: its checkpoint has the auxiliary outputs too.
  train("t.csv -o whole" + kBoth);
  const std::string before = test_predictions("whole");
  const ShellResult again = run("molgraph-train --resume -o whole");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("Resuming after epoch 3"));
  EXPECT_EQ(test_predictions("whole"), before);
  train("t.csv -o blend --refit" + kBoth, kTiny);
  train("t.csv -o folds --folds 2 --target-columns y --auxiliary-targets toxic ");
  train("t.csv -o five --ensemble-size 2 --out-of-fold --target-columns y --auxiliary-targets logD ", kTiny);
  for (const char* folder : {"blend", "folds", "five"})
    ASSERT_EQ(run(std::string("molgraph-score -m ") + folder + " -i t.csv -o out.csv").code, 0) << folder;
}

TEST_F(AuxiliaryCli, BothEnginesLearnThem) {
  train("t.csv -o engine" + kBoth);
  train("t.csv -o reference --backend reference" + kBoth);
  const auto a = lines_of(test_predictions("engine")), b = lines_of(test_predictions("reference"));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t row = 1; row < a.size(); ++row)
    EXPECT_NEAR(std::stod(cells_of(a[row]).at(3)), std::stod(cells_of(b[row]).at(3)), 1e-3) << a[row] << "\n" << b[row];
}

TEST_F(AuxiliaryCli, StoresAndClassesHaveThem) {
  ASSERT_EQ(run("molgraph-featurize -i t.csv -o s.h5 --target-columns y logD toxic").code, 0);
  EXPECT_THAT(train("s.h5 -o S --target-columns y --auxiliary-targets logD "),
              HasSubstr("(trained, but not predicted): logD"));
  EXPECT_THAT(train("s.h5 -o R --auxiliary-targets logD toxic "), HasSubstr("Targets (regression): y"));
  EXPECT_THAT(train("s.h5 -o L --target-columns y --auxiliary-targets toxic --limit 40 "), HasSubstr("40 molecules"));
  EXPECT_THAT(train("t.csv -o C --target-columns toxic --auxiliary-targets logD --splits-column part "),
              HasSubstr("Targets (binary): toxic"));
  const ShellResult twice = run("molgraph-train s.h5 -o T --target-columns y logD --auxiliary-targets LOGD" + kAlone);
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("the target column 'LOGD' is named twice"));
}

TEST_F(AuxiliaryCli, WhatCannotBeIsRefused) {
  const auto refused = [&](const std::string& arguments, const std::string& word, int code) {
    const ShellResult result = run("molgraph-train " + arguments + kAlone + "-o refused");
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(word)) << arguments;
    EXPECT_FALSE(scratch.exists("refused")) << arguments;
  };
  refused("t.csv --target-columns y --auxiliary-targets y", "named twice", 2);
  refused("t.csv --target-columns y --auxiliary-targets nothing", "no auxiliary target column 'nothing'", 3);
  refused("t.csv --auxiliary-targets y logD toxic", "can be a target", 3);
  refused("t.csv --target-columns y --auxiliary-targets smiles", "column 'smiles' is text", 3);
  refused("demo --auxiliary-targets y", "a named data set", 2);
  EXPECT_THAT(run("molgraph-pretrain t.csv -o P --auxiliary-targets y").err, HasSubstr("--auxiliary-targets"));
}

}  // namespace
}  // namespace molgraph::test
