// Labels from a user's table to a run's files: words as labels, sets with one class, undefined metrics, weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

using test::Scratch;
using test::ShellResult;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTiny = " --layers 1 --width 8 --ffn 8 --heads 2 --threads 1 --no-blend --no-baselines ";

/// A table of amines and alkanes with the labels given.
std::string amines(const std::string& amine, const std::string& alkane) {
  std::string text = "id,smiles,label\n";
  for (int r = 0; r < 40; ++r)
    text += (r == 3 ? "NA" : "m" + std::to_string(r)) + "," + std::string(static_cast<std::size_t>(r / 2 + 1), 'C') +
            (r % 2 ? "N," + amine : "," + alkane) + "\n";
  return text;
}

class LabelsCli : public ::testing::Test {
 protected:
  ShellResult run(const std::string& command) const { return scratch.run(test::bin_dir(), command); }
  Scratch scratch;
};

TEST_F(LabelsCli, WordLabelsWorkFromTableToInfo) {
  scratch.write("words.csv", amines("Active", "inactive"));
  const ShellResult trained = run("molgraph-train words.csv -o R --epochs 1" + std::string(kTiny));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("binary labels in 'label': active is 1, inactive is 0"),
                                 HasSubstr("stratified"), HasSubstr("Targets (binary)")));
  EXPECT_THAT(run("molgraph-info R").out, HasSubstr("label (binary: the probability of active)"));
  EXPECT_THAT(run("molgraph-info R --json").out, HasSubstr("\"positive\""));
  EXPECT_THAT(scratch.read("R/splits.csv"), HasSubstr("\n3,4,CCN,"))
      << "the id NA is a missing value, so the row number is the id";
  EXPECT_THAT(trained.err, HasSubstr("only 4 labels in the test set: its results there are unreliable"));
  for (const std::string& line : test::lines_of(scratch.read("R/test_predictions.csv")))
    EXPECT_THAT(line, AnyOf(HasSubstr(",label,"), HasSubstr(",active,"), HasSubstr(",inactive,"))) << "as in the table";
  ASSERT_EQ(run("molgraph-score -m R -i words.csv -o scored.csv").code, 0);
  EXPECT_THAT(scratch.read("scored.csv"), HasSubstr("label_pred"));
  // The output can be a training table. By default, columns that molgraph wrote are not targets.
  const ShellResult again = run("molgraph-train scored.csv -o S --epochs 1" + std::string(kTiny));
  EXPECT_THAT(again.err, AllOf(HasSubstr("label_pred"), HasSubstr("Targets (binary): label\n")));
}

TEST_F(LabelsCli, OtherWordsAreMulticlassUnlessPositiveIsGiven) {
  scratch.write("words.csv", amines("soluble", "insoluble"));
  const ShellResult two = run("molgraph-train words.csv --target-columns label -o M --epochs 1" + std::string(kTiny));
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.err, AllOf(HasSubstr("multiclass with two classes"), HasSubstr("--positive")));
  EXPECT_THAT(scratch.read("M/test_predictions.csv"), HasSubstr("label_prob_soluble"));
  const ShellResult undecided =
      run("molgraph-train words.csv --target-columns label -t classification -o U --epochs 1" + std::string(kTiny));
  EXPECT_EQ(undecided.code, 3);
  EXPECT_THAT(undecided.err, AllOf(HasSubstr("insoluble, soluble"), HasSubstr("--positive")));
  const ShellResult chosen = run("molgraph-train words.csv --positive insoluble -o P --epochs 1" + std::string(kTiny));
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_THAT(chosen.err, HasSubstr("insoluble is 1, soluble is 0"));
  for (const std::string& line : test::lines_of(scratch.read("P/test_predictions.csv"))) {
    const auto cells = test::cells_of(line);
    if (cells[0] == "id") continue;
    EXPECT_EQ(cells[2], cells[1].ends_with("N") ? "soluble" : "insoluble") << line;
  }
  // Numeric labels are written as 0 and 1, because the label 1 could not be distinguished from class 1.
  scratch.write("numbers.csv", amines("2", "1"));
  ASSERT_EQ(
      run("molgraph-train numbers.csv --target-columns label --positive 1 -o N --epochs 1" + std::string(kTiny)).code,
      0);
  for (const std::string& line : test::lines_of(scratch.read("N/test_predictions.csv"))) {
    const auto cells = test::cells_of(line);
    if (cells[0] == "id") continue;
    EXPECT_EQ(cells[2], cells[1].ends_with("N") ? "0" : "1") << line;
  }
  EXPECT_THAT(run("molgraph-info P --json").out, HasSubstr("\"insoluble\""));
  ASSERT_EQ(run("molgraph-featurize words.csv --target-columns label -o words.h5").code, 0);
  EXPECT_THAT(run("molgraph-train words.h5 --positive soluble -o Q --epochs 1" + std::string(kTiny)).err,
              HasSubstr("Targets (binary)"));
  const ShellResult other = run("molgraph-train words.csv --positive soluble --from P -o F --epochs 1 --threads 1");
  EXPECT_THAT(other.err, HasSubstr("new head")) << "a head whose class 1 is another label cannot be reused";
  EXPECT_EQ(run("molgraph-score -m P -m Q -i words.csv -o both.csv").code, 4)
      << "their probabilities refer to different labels";
}

/// The first 30 rows are the training set and have both classes. The other sets have one class.
std::string one_sided() {
  std::string text = "smiles,y,part\n";
  for (int r = 0; r < 50; ++r)
    text += std::string(static_cast<std::size_t>(r / 2 + 1), 'C') + (r % 2 ? "N" : "") + "," +
            (r < 30 && r % 2 ? "1" : "0") + "," +
            (r < 30   ? "train"
             : r < 40 ? "val"
                      : "test") +
            "\n";
  return text;
}

TEST_F(LabelsCli, SetsWithOneClassHaveNoMetricAndTheLossSelects) {
  scratch.write("parts.csv", one_sided());
  const ShellResult trained =
      run("molgraph-train parts.csv --splits-column part -o R --epochs 5 --patience 2 --lr 1e-2" + std::string(kTiny));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err,
              AllOf(HasSubstr("one class only in the validation set"), HasSubstr("one class only in the test set"),
                    HasSubstr("the validation loss selects the best epoch"), HasSubstr("valid loss "),
                    HasSubstr("the best validation epoch is ")));
  EXPECT_THAT(trained.out, AllOf(HasSubstr("valid: no roc-auc (one class only) for y"), Not(HasSubstr("nan"))));
  EXPECT_THAT(scratch.read("R/results.csv"),
              AllOf(HasSubstr("valid,10,roc-auc,,one class only\n"), HasSubstr("test,10,roc-auc,,one class only\n")));
  // The best epoch has the smallest loss in the last column.
  double smallest = 1e9;
  std::string best;
  const auto lines = test::lines_of(scratch.read("R/metrics.csv"));
  EXPECT_EQ(lines[0], "epoch,step,lr,train_loss,valid_roc-auc,valid_loss");
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const auto cells = test::cells_of(lines[k]);
    ASSERT_EQ(cells.size(), 6u);
    EXPECT_EQ(cells[4], "");
    if (std::stod(cells[5]) < smallest) smallest = std::stod(cells[5]), best = cells[0];
  }
  EXPECT_THAT(trained.err, HasSubstr("the best validation epoch is " + best + "\n"));
  EXPECT_EQ(run("molgraph-info R").code, 0);
  const ShellResult folds =
      run("molgraph-train parts.csv --target-columns y --folds 2 -o F --epochs 1" + std::string(kTiny));
  EXPECT_EQ(folds.code, 0) << folds.err;
}

TEST_F(LabelsCli, ConstantTargetHasNoR2) {
  std::string text = "smiles,y,z\n";
  for (int r = 0; r < 40; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + ",0.1," + std::to_string(r) + ".5\n";
  scratch.write("constant.csv", text);
  const ShellResult trained =
      run("molgraph-train constant.csv --target-columns y -o R --epochs 1" + std::string(kTiny));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(scratch.read("R/results.csv"), HasSubstr("test,4,r2,,constant target\n"));
  EXPECT_THAT(trained.out, AllOf(HasSubstr("test: no r2 (constant target) for y"), Not(HasSubstr("e+"))));
}

/// 40 alkanes with their chain lengths as labels. Every third label after the fourth is a limit, above or below which
/// the value lies.
std::string censored_table(bool with_limits) {
  std::string text = "smiles,y,part\n";
  for (int r = 0; r < 40; ++r) {
    const bool limit = r % 3 == 0 && r > 3;
    if (limit && !with_limits) continue;
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + (limit ? r % 2 ? ">" : "<= " : "") +
            std::to_string(limit ? r + (r % 2 ? -2 : 2) : r) + ".5," +
            (r < 28   ? "train"
             : r < 34 ? "val"
                      : "test") +
            "\n";
  }
  return text;
}

TEST_F(LabelsCli, CensoredLabelsTrainAsLimitsAndAreLeftOutOfMetrics) {
  scratch.write("limits.csv", censored_table(true));
  scratch.write("exact.csv", censored_table(false));
  const std::string options = " --splits-column part --epochs 3 --lr 1e-2" + std::string(kTiny);
  const ShellResult limits = run("molgraph-train limits.csv -o L" + options);
  ASSERT_EQ(limits.code, 0) << limits.err;
  EXPECT_THAT(limits.err, HasSubstr("12 censored labels: 6 with > and 6 with < in 'y'"));
  EXPECT_THAT(limits.out, AllOf(HasSubstr("test: 2 censored labels are left out of the metrics"),
                                HasSubstr("valid: 2 censored labels"), HasSubstr("train: 8 censored labels")));
  const std::string predictions = scratch.read("L/test_predictions.csv");
  EXPECT_THAT(predictions, AllOf(HasSubstr(",<38.5,"), HasSubstr(",>37.5,")));

  const ShellResult dropped = run("molgraph-train limits.csv --censored drop -o D" + options);
  ASSERT_EQ(dropped.code, 0) << dropped.err;
  EXPECT_THAT(dropped.err, HasSubstr("12 censored labels"));
  EXPECT_THAT(scratch.read("D/test_predictions.csv"), Not(HasSubstr(">")));
  const ShellResult values = run("molgraph-train limits.csv --censored value -o V" + options);
  ASSERT_EQ(values.code, 0) << values.err;
  EXPECT_THAT(scratch.read("V/test_predictions.csv"), HasSubstr(",37.5,"));
  const auto weights = [&](const std::string& folder) { return scratch.read(folder + "/model.safetensors"); };
  EXPECT_NE(weights("L"), weights("D"));
  EXPECT_NE(weights("L"), weights("V"));
  EXPECT_NE(weights("D"), weights("V"));

  const ShellResult useless = run("molgraph-train exact.csv --censored drop -o X" + options);
  EXPECT_EQ(useless.code, 2);
  EXPECT_THAT(useless.err, HasSubstr("--censored would do nothing"));
  // The same from a store and with the reference backend.
  ASSERT_EQ(run("molgraph-featurize limits.csv --splits-column part -o limits.h5").code, 0);
  ASSERT_EQ(run("molgraph-train limits.h5 -o S --epochs 3 --lr 1e-2" + std::string(kTiny)).code, 0);
  EXPECT_EQ(scratch.read("S/test_predictions.csv"), predictions);
  const ShellResult reference = run("molgraph-train limits.csv --backend reference -o R" + options);
  ASSERT_EQ(reference.code, 0) << reference.err;
  const auto last_loss = [&](const std::string& folder) {
    return std::stod(test::cells_of(test::lines_of(scratch.read(folder + "/metrics.csv")).back())[3]);
  };
  EXPECT_NEAR(last_loss("R"), last_loss("L"), 1e-4 * last_loss("L")) << "the losses of both backends";
}

/// Forty alkanes: the target y in all rows, the target rare in every eighth row, and the row weight trust.
std::string weighted_table() {
  std::string text = "smiles,y,rare,trust,part\n";
  for (int r = 0; r < 40; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + std::to_string(r) + ".5," +
            (r % 8 == 1 ? std::to_string(40 - r) + ".25" : "") + "," +
            (r == 5  ? "0"
             : r % 4 ? "1"
                     : "0.25") +
            "," +
            (r < 28   ? "train"
             : r < 34 ? "val"
                      : "test") +
            "\n";
  return text;
}

TEST_F(LabelsCli, AppliesRowTargetAndClassWeights) {
  scratch.write("t.csv", weighted_table());
  const std::string options =
      " --splits-column part --target-columns y rare --descriptors none --epochs 2 --lr 1e-2" + std::string(kTiny);
  const auto weights = [&](const std::string& folder) { return scratch.read(folder + "/model.safetensors"); };
  ASSERT_EQ(run("molgraph-train t.csv -o A" + options).code, 0);
  ASSERT_EQ(run("molgraph-train t.csv --task-weights 1 1 -o B" + options).code, 0);
  EXPECT_EQ(weights("A"), weights("B")) << "equal weights have no effect";
  const ShellResult rows = run("molgraph-train t.csv --weight-column trust -o C" + options);
  ASSERT_EQ(rows.code, 0) << rows.err;
  EXPECT_THAT(rows.err, AllOf(HasSubstr("row weights from 0 to 1; 1 training row of weight 0"), HasSubstr("27 train")));
  EXPECT_NE(weights("C"), weights("A"));
  // y has 28 training labels, rare has 4. Balancing gives each label of y the weight 16/28, each of rare 16/4.
  const ShellResult balanced = run("molgraph-train t.csv --task-balance -o D" + options);
  ASSERT_EQ(balanced.code, 0) << balanced.err;
  EXPECT_THAT(balanced.err, HasSubstr("Weight of a label in the loss (for a row of weight 1): y 0.5714, rare 4.000\n"));
  EXPECT_NE(weights("D"), weights("A"));
  const ShellResult reference = run("molgraph-train t.csv --task-balance --backend reference -o E" + options);
  ASSERT_EQ(reference.code, 0) << reference.err;
  const auto last_loss = [&](const std::string& folder) {
    return std::stod(test::cells_of(test::lines_of(scratch.read(folder + "/metrics.csv")).back())[3]);
  };
  EXPECT_NEAR(last_loss("E"), last_loss("D"), 1e-4 * last_loss("D")) << "the losses of both backends";
  for (const auto& [flags, problem] :
       std::vector<std::pair<std::string, std::string>>{{"--task-weights 1 2 3", "3 weights, but there are 2 targets"},
                                                        {"--task-weights 1 0", "--task-weights"},
                                                        {"--class-balance", "the targets are not classes"}}) {
    const ShellResult refused = run("molgraph-train t.csv " + flags + " -o X" + options);
    EXPECT_EQ(refused.code, 2) << flags;
    EXPECT_THAT(refused.err, HasSubstr(problem)) << flags;
  }
  scratch.write("words.csv", amines("active", "inactive"));
  const ShellResult classes = run("molgraph-train words.csv --class-balance -o F --epochs 1" + std::string(kTiny));
  ASSERT_EQ(classes.code, 0) << classes.err;
  EXPECT_THAT(classes.err, HasSubstr("label (inactive: 1.000, active: 1.000)"));
  ASSERT_EQ(
      run("molgraph-featurize t.csv --weight-column trust --target-columns y rare --splits-column part -o t.h5").code,
      0);
  ASSERT_EQ(run("molgraph-train t.h5 --descriptors none -o G --epochs 2 --lr 1e-2" + std::string(kTiny)).code, 0);
  EXPECT_EQ(scratch.read("G/test_predictions.csv"), scratch.read("C/test_predictions.csv")) << "from a store";
}

/// Forty alkanes and amines with the targets chain length and amine; some amine labels are missing.
std::string mixed_table() {
  std::string text = "smiles,y,amine,part\n";
  for (int r = 0; r < 40; ++r)
    text += std::string(static_cast<std::size_t>(r / 2 + 1), 'C') + (r % 2 ? "N," : ",") + std::to_string(r / 2) +
            ".5," +
            (r % 7 == 3 ? ""
             : r % 2    ? "yes"
                        : "no") +
            "," +
            (r < 28   ? "train"
             : r < 34 ? "val"
                      : "test") +
            "\n";
  return text;
}

TEST_F(LabelsCli, TrainsRegressionAndBinaryTargetsInOneModel) {
  scratch.write("t.csv", mixed_table());
  const std::string options =
      " --splits-column part --target-columns y amine --descriptors none --epochs 3 --lr 1e-2" + std::string(kTiny);
  const ShellResult trained = run("molgraph-train t.csv -o R" + options);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err,
              AllOf(HasSubstr("Targets (mixed): y (regression), amine (binary)"), HasSubstr("valid loss ")));
  EXPECT_THAT(trained.out, AllOf(HasSubstr("loss"), HasSubstr("mae"), HasSubstr("roc-auc"),
                                 HasSubstr("loss of the mean predictor")));
  EXPECT_EQ(test::lines_of(scratch.read("R/metrics.csv"))[0], "epoch,step,lr,train_loss,valid_loss");
  EXPECT_THAT(scratch.read("R/results.csv"),
              AllOf(HasSubstr("test,6,loss,"), HasSubstr("test,6,rmse,"), HasSubstr("test,6,accuracy,")));
  for (const std::string& line : test::lines_of(scratch.read("R/test_predictions.csv"))) {
    const auto cells = test::cells_of(line);
    if (cells[0] == "id") continue;
    EXPECT_GT(std::stod(cells[3]), 2) << "in the unit of y: " << line;
    EXPECT_TRUE(std::stod(cells[5]) > 0 && std::stod(cells[5]) < 1) << "a probability: " << line;
  }
  EXPECT_THAT(run("molgraph-info R").out, AllOf(HasSubstr("y (regression), amine (binary)"), HasSubstr("(mixed")));
  // Scoring without LibTorch reproduces the predictions of the training run within float precision.
  ASSERT_EQ(run("molgraph-score -m R -i t.csv -o scored.csv").code, 0);
  const auto scored = test::lines_of(scratch.read("scored.csv")),
             predictions = test::lines_of(scratch.read("R/test_predictions.csv"));
  EXPECT_EQ(test::cells_of(scored[0]),
            (std::vector<std::string>{"smiles", "y", "amine", "part", "y_pred", "amine_pred", "status", "reason"}));
  for (std::size_t k = 1; k < predictions.size(); ++k) {
    const auto expected = test::cells_of(predictions[k]), actual = test::cells_of(scored[34 + k]);
    EXPECT_EQ(actual[0], expected[1]);
    EXPECT_NEAR(std::stod(actual[4]), std::stod(expected[3]), 1e-4);
    EXPECT_NEAR(std::stod(actual[5]), std::stod(expected[5]), 1e-5);
  }
  EXPECT_EQ(run("molgraph-embed -m R -i t.csv -o e.npz").code, 0);
  const ShellResult reference = run("molgraph-train t.csv --backend reference -o E" + options);
  ASSERT_EQ(reference.code, 0) << reference.err;
  const auto last = [&](const std::string& folder, std::size_t column) {
    return std::stod(test::cells_of(test::lines_of(scratch.read(folder + "/metrics.csv")).back())[column]);
  };
  for (const std::size_t column : {3u, 4u})
    EXPECT_NEAR(last("E", column), last("R", column), 1e-4 * last("R", column)) << "the losses of both backends";
  ASSERT_EQ(run("molgraph-train t.csv --metric roc-auc --class-balance --task-balance -o A" + options).code, 0);
  EXPECT_THAT(scratch.read("A/metrics.csv"), HasSubstr("valid_roc-auc"));
  EXPECT_EQ(run("molgraph-train t.csv --loss bce -o X" + options).code, 2);
  ASSERT_EQ(run("molgraph-featurize t.csv --target-columns y amine --splits-column part -o t.h5").code, 0);
  ASSERT_EQ(run("molgraph-train t.h5 --descriptors none -o S --epochs 3 --lr 1e-2" + std::string(kTiny)).code, 0);
  EXPECT_EQ(scratch.read("S/test_predictions.csv"), scratch.read("R/test_predictions.csv"));
  const ShellResult other =
      run("molgraph-train t.csv --splits-column part --target-columns y amine -t mixed --from R -o F "
          "--epochs 1 --threads 1");
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, Not(HasSubstr("new head"))) << "the same targets of the same kinds";
}

}  // namespace
}  // namespace molgraph
