// Auxiliary targets (trained next to the reported ones) in the programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "datasets/system/readable.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kModel = " --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --from none --no-report ";
const std::string kTiny = kModel + "--epochs 3 ";
const std::string kModelOnly = kTiny + "--no-baselines --no-blend ";

class AuxiliaryCli : public ::testing::Test {
 protected:
  /// Writes chains with one of four end groups. Rows 60 to 79 are the validation set, rows 80 to 99 the test set; their
  /// logD is `outside`. The logD of the training rows increases with `slope` times the chain length. One fifth of the
  /// rows has no label of y.
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
  std::string train(const std::string& arguments, const std::string& settings = kModelOnly) {
    const ShellResult result = run("molgraph-train " + arguments + settings);
    EXPECT_EQ(result.code, 0) << arguments << "\n" << result.err;
    return result.err;
  }
  std::string test_predictions(const std::string& folder) { return scratch.read(folder + "/test_predictions.csv"); }
  Scratch scratch;
};

const std::string kTwoAuxiliary = " --target-columns y --auxiliary-targets logD toxic --splits-column part ";

TEST_F(AuxiliaryCli, AreTrainedButNotReported) {
  const std::string log = train("t.csv -o A" + kTwoAuxiliary);
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

TEST_F(AuxiliaryCli, OnlyTrainingLabelsAffectTheModel) {
  write("outside.csv", "-400");
  write("inside.csv", "1.5", -1);
  train("t.csv -o A" + kTwoAuxiliary);
  train("outside.csv -o B" + kTwoAuxiliary);
  train("inside.csv -o C" + kTwoAuxiliary);
  EXPECT_EQ(test_predictions("A"), test_predictions("B"));
  EXPECT_EQ(scratch.read("A/metrics.csv"), scratch.read("B/metrics.csv"));
  EXPECT_NE(test_predictions("A"), test_predictions("C"));
}

// The training set has 48 labels of y, 60 of logD and 60 of toxic. A label of y weighs 1 and an auxiliary label 0.2,
// divided by the mean weight of all labels.
TEST_F(AuxiliaryCli, LogShowsTheirWeights) {
  const double mean = (48 + 0.2 * 120) / 168;
  EXPECT_THAT(train("t.csv -o A" + kTwoAuxiliary),
              HasSubstr(text("y %.4g, logD %.4g, toxic %.4g", 1 / mean, 0.2 / mean, 0.2 / mean)));
}

// With cross-entropy, probabilities approach 0 and 1. With L1 of the logits, they would approach 0.5 and 0.73.
TEST_F(AuxiliaryCli, ClassesKeepTheirLoss) {
  ASSERT_EQ(run("awk -F, '{print $0 \",\" (NR == 1 ? \"other\" : NR % 3 ? \"0\" : \"1\")}' t.csv > c.csv").code, 0);
  train("c.csv -o A --target-columns toxic --auxiliary-targets other --split-sizes 0.8 0 0.2 --lr 5e-3 ",
        kModel + "--epochs 60 --no-baselines --no-blend ");
  std::vector<double> probabilities;
  const auto lines = lines_of(test_predictions("A"));
  for (std::size_t k = 1; k < lines.size(); ++k) probabilities.push_back(std::stod(cells_of(lines[k])[3]));
  ASSERT_EQ(probabilities.size(), 20u);
  EXPECT_LT(std::ranges::min(probabilities), 0.1);
  EXPECT_GT(std::ranges::max(probabilities), 0.9);
}

TEST_F(AuxiliaryCli, WarnsIfTheStartingModelUsedTestMolecules) {
  train("t.csv -o A --target-columns y --auxiliary-targets logD --seed 1 ");
  EXPECT_THAT(
      train("t.csv -o B --from A --target-columns logD --seed 2 ", "--epochs 1 --no-blend --no-baselines --no-report "),
      HasSubstr("the test results will be too optimistic"));
  EXPECT_THAT(
      train("t.csv -o C --from A --target-columns y --auxiliary-targets toxic --scale-targets --splits-column part ",
            "--epochs 1 --no-blend --no-baselines --no-report "),
      HasSubstr("with a new head"));
  train("t.csv -o E --ensemble-size 2 --target-columns logD --seed 1 ");
  EXPECT_THAT(train("t.csv -o D --from E/model_0 --target-columns logD --seed 2 ",
                    "--epochs 1 --no-blend --no-baselines --no-report "),
              HasSubstr("the test results will be too optimistic"))
      << "a member's split is that of its ensemble";
}

TEST_F(AuxiliaryCli, WorkWithResumeBlendsFoldsAndRefits) {
  // Resuming a finished run trains nothing. Its checkpoint contains the auxiliary outputs too.
  train("t.csv -o whole" + kTwoAuxiliary);
  const std::string before = test_predictions("whole");
  const ShellResult again = run("molgraph-train --resume -o whole");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("Resuming after epoch 3"));
  EXPECT_EQ(test_predictions("whole"), before);
  train("t.csv -o blend --refit" + kTwoAuxiliary, kTiny);
  train("t.csv -o folds --folds 2 --target-columns y --auxiliary-targets toxic ");
  train("t.csv -o five --ensemble-size 2 --out-of-fold --target-columns y --auxiliary-targets logD ", kTiny);
  for (const char* folder : {"blend", "folds", "five"})
    ASSERT_EQ(run(std::string("molgraph-score -m ") + folder + " -i t.csv -o out.csv").code, 0) << folder;
}

TEST_F(AuxiliaryCli, BothBackendsTrainThem) {
  train("t.csv -o engine" + kTwoAuxiliary);
  train("t.csv -o reference --backend reference" + kTwoAuxiliary);
  const auto a = lines_of(test_predictions("engine")), b = lines_of(test_predictions("reference"));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t row = 1; row < a.size(); ++row)
    EXPECT_NEAR(std::stod(cells_of(a[row]).at(3)), std::stod(cells_of(b[row]).at(3)), 1e-3) << a[row] << "\n" << b[row];
}

TEST_F(AuxiliaryCli, WorkWithStoresAndClassification) {
  ASSERT_EQ(run("molgraph-featurize -i t.csv -o s.h5 --target-columns y logD toxic").code, 0);
  EXPECT_THAT(train("s.h5 -o S --target-columns y --auxiliary-targets logD "),
              HasSubstr("(trained, but not predicted): logD"));
  EXPECT_THAT(train("s.h5 -o R --auxiliary-targets logD toxic "), HasSubstr("Targets (regression): y"));
  EXPECT_THAT(train("s.h5 -o L --target-columns y --auxiliary-targets toxic --limit 40 "), HasSubstr("40 molecules"));
  EXPECT_THAT(train("t.csv -o C --target-columns toxic --auxiliary-targets logD --splits-column part "),
              HasSubstr("Targets (binary): toxic"));
  const ShellResult twice =
      run("molgraph-train s.h5 -o T --target-columns y logD --auxiliary-targets LOGD" + kModelOnly);
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("the target column 'LOGD' is named twice"));
}

TEST_F(AuxiliaryCli, RejectsInvalidRequests) {
  const auto expect_failure = [&](const std::string& arguments, const std::string& message, int code) {
    const ShellResult result = run("molgraph-train " + arguments + kModelOnly + "-o refused");
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << arguments;
    EXPECT_FALSE(scratch.exists("refused")) << arguments;
  };
  expect_failure("t.csv --target-columns y --auxiliary-targets y", "named twice", 2);
  expect_failure("t.csv --target-columns y --auxiliary-targets nothing", "no auxiliary target column 'nothing'", 3);
  expect_failure("t.csv --auxiliary-targets y logD toxic", "can be a target", 3);
  expect_failure("t.csv --target-columns y --auxiliary-targets smiles", "column 'smiles' is text", 3);
  expect_failure("demo --auxiliary-targets y", "a named data set", 2);
  EXPECT_THAT(run("molgraph-pretrain t.csv -o P --auxiliary-targets y").err, HasSubstr("--auxiliary-targets"));
}

}  // namespace
}  // namespace molgraph::test
