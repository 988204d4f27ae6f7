// Targets that are learned as logarithms, from training to scoring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "datasets/system/readable.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny = " --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --from none --epochs 3 ";
const std::string kModelOnly = kTiny + "--no-baselines --no-blend --no-report ";

class LogTargetsCli : public ::testing::Test {
 protected:
  /// Writes 400 chains with a half-life that spans two and a half decades. The numbers have up to 7 digits.
  void SetUp() override {
    std::string table = "smiles,half_life,logD\n";
    const char* ends[] = {"O", "N", "F", "c1ccccc1", "C1CC1", "C(=O)O", "C#N", "S"};
    for (int k = 0; k < 400; ++k)
      table += std::string(static_cast<std::size_t>(1 + k / 8), 'C') + ends[k % 8] + "," +
               number(std::pow(10.0, 0.05 * (k / 8) + 0.01 * (k % 8))) + "," + std::to_string(k % 9 - 3) + "\n";
    scratch.write("t.csv", table);
  }
  static std::string number(double value) { return text("%.7g", value); }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  std::string train(const std::string& arguments, const std::string& settings = kModelOnly) {
    const ShellResult result = run("molgraph-train " + arguments + settings);
    EXPECT_EQ(result.code, 0) << arguments << "\n" << result.err;
    return result.err;
  }
  /// A column of a table as text.
  std::vector<std::string> column(const std::string& file, const std::string& name) {
    const auto lines = lines_of(scratch.read(file));
    const auto names = cells_of(lines.at(0));
    const auto at = std::ranges::find(names, name) - names.begin();
    EXPECT_LT(static_cast<std::size_t>(at), names.size()) << file << " has no column " << name;
    std::vector<std::string> cells;
    for (std::size_t k = 1; k < lines.size(); ++k) cells.push_back(cells_of(lines[k]).at(static_cast<std::size_t>(at)));
    return cells;
  }
  std::vector<double> numbers(const std::string& file, const std::string& name) {
    std::vector<double> values;
    for (const std::string& cell : column(file, name)) values.push_back(std::stod(cell));
    return values;
  }
  Scratch scratch;
};

const std::string kHalfLife = " --target-columns half_life --split-sizes 0.6 0.2 0.2 ";

TEST_F(LogTargetsCli, SkewedTargetsArePredictedInTheUnitOfTheTable) {
  const std::string log = train("t.csv -o A" + kHalfLife, kTiny + "--domain-labels ");
  EXPECT_THAT(log, HasSubstr("The model learns the logarithm (base 10) of half_life, because the labels are skewed"));
  EXPECT_THAT(log, HasSubstr("Targets (regression): half_life [log10]"));
  // The labels are those of the table, digit by digit.
  const auto labels = column("A/test_predictions.csv", "half_life"), all = column("t.csv", "half_life");
  EXPECT_EQ(labels.size(), 80U);
  const auto ids = column("A/test_predictions.csv", "id");
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(labels[i], all.at(std::stoul(ids[i]) - 1));
  // results.csv has the errors of the logarithms.
  const auto y = numbers("A/test_predictions.csv", "half_life"),
             predicted = numbers("A/test_predictions.csv", "half_life_pred");
  double error = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    error += std::abs(std::log10(predicted[i] / y[i])) / static_cast<double>(y.size());
  bool found = false;
  for (const std::string& line : lines_of(scratch.read("A/results.csv")))
    if (line.starts_with("test,80,mae,")) {
      found = true;
      EXPECT_NEAR(std::stod(cells_of(line).at(3)), error, 1e-5 * error) << line;
    }
  EXPECT_TRUE(found);
  // Scoring gives the same predictions, and intervals that are positive and symmetric on a logarithmic scale.
  ASSERT_EQ(run("molgraph-score -m A -i A/test_predictions.csv -o s.csv --interval 0.9 --domain --explain atoms").code,
            0);
  const auto scored = numbers("s.csv", "molgraph_half_life_pred"), low = numbers("s.csv", "molgraph_half_life_low"),
             high = numbers("s.csv", "molgraph_half_life_high"), baseline = numbers("s.csv", "half_life_baseline");
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(scored[i], predicted[i], 2e-5 * predicted[i]);
    EXPECT_GT(low[i], 0);
    EXPECT_NEAR(std::log10(high[i] / scored[i]), std::log10(scored[i] / low[i]), 1e-5);
  }
  const auto nearest = column("s.csv", "domain_id"), of_nearest = column("s.csv", "domain_half_life");
  for (std::size_t i = 0; i < nearest.size(); ++i) EXPECT_EQ(of_nearest[i], all.at(std::stoul(nearest[i]) - 1));
  // The parts of an explanation add up to the logarithm.
  const auto atoms = column("s.csv", "half_life_atoms"), blend = column("s.csv", "half_life_blend");
  const auto descriptors = column("s.csv", "half_life_descriptors");
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = baseline[i] + std::stod(blend[i]) + std::stod(descriptors[i]);
    for (const std::string& one : cells_of(atoms[i], ' ')) sum += std::stod(one);
    EXPECT_NEAR(sum, std::log10(scored[i]), 0.02) << atoms[i];
  }
  EXPECT_THAT(run("molgraph-info A").out,
              AllOf(HasSubstr("half_life (regression); learned as logarithms, with errors in log10 units: half_life"),
                    HasSubstr("90 % interval of log10(half_life) +- ")));
  // The report has the same errors, and labels in the unit of the table.
  std::size_t worst = 0;
  const auto error_of = [&](std::size_t i) { return std::abs(std::log10(predicted[i] / y[i])); };
  for (std::size_t i = 1; i < y.size(); ++i) worst = error_of(i) > error_of(worst) ? i : worst;
  EXPECT_THAT(run("molgraph-info A").out, AllOf(HasSubstr(": label " + sensible_number(y[worst]) + ", predicted " +
                                                          sensible_number(predicted[worst])),
                                                HasSubstr("  " + sensible_number(error) + " (")));
}

TEST_F(LogTargetsCli, TheOptionDecides) {
  EXPECT_THAT(train("t.csv -o unchanged --log-targets none" + kHalfLife), Not(HasSubstr("logarithm")));
  EXPECT_THAT(
      train("t.csv -o named --log-targets half_life" + kHalfLife),
      AllOf(HasSubstr("The model learns the logarithm (base 10) of half_life. The errors"), Not(HasSubstr("skewed"))));
  train("t.csv -o automatic" + kHalfLife);
  EXPECT_EQ(scratch.read("named/test_predictions.csv"), scratch.read("automatic/test_predictions.csv"));
  EXPECT_NE(scratch.read("unchanged/test_predictions.csv"), scratch.read("automatic/test_predictions.csv"));
  const auto expect_failure = [&](const std::string& arguments, const std::string& message, int code) {
    const ShellResult result = run("molgraph-train t.csv -o refused " + arguments + kModelOnly);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(scratch.exists("refused"));
  };
  expect_failure("--log-targets logP", "'logP' is not a target; choose from half_life, logD", 2);
  expect_failure("--log-targets all",
                 "t.csv, row 1: the label of the target 'logD' must be positive for --log-targets (-3)", 3);
  const ShellResult pretrained = run("molgraph-pretrain t.csv -o P --log-targets half_life");
  EXPECT_EQ(pretrained.code, 2);
  EXPECT_THAT(pretrained.err, HasSubstr("--log-targets cannot be combined"));
}

// Version 0.1.0 had no --log-targets. Its config.toml has no such line.
TEST_F(LogTargetsCli, ARunOfAnEarlierVersionResumesWithoutLogarithms) {
  train("t.csv -o R --log-targets none" + kHalfLife);
  const std::string line = "log-targets = [ 'none' ]\n";
  std::string config = scratch.read("R/config.toml");
  ASSERT_THAT(config, HasSubstr(line));
  scratch.write("R/config.toml", config.erase(config.find(line), line.size()));
  const ShellResult again = run("molgraph-train t.csv -o R --resume --threads 1");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("Resuming"), Not(HasSubstr("logarithm"))));
}

TEST_F(LogTargetsCli, AnEnsembleGivesTheGeometricMean) {
  train("t.csv -o E --ensemble-size 2" + kHalfLife);
  ASSERT_EQ(run("molgraph-score -m E -i t.csv -o s.csv --individual").code, 0);
  const auto mean = numbers("s.csv", "half_life_pred"), a = numbers("s.csv", "half_life_pred_0"),
             b = numbers("s.csv", "half_life_pred_1"), deviation = numbers("s.csv", "half_life_std");
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i], std::sqrt(a[i] * b[i]), 1e-5 * mean[i]);
    EXPECT_NEAR(deviation[i], std::abs(a[i] - b[i]) / 2, 1e-5 * mean[i]);
  }
  train("t.csv -o N --log-targets none" + kHalfLife);
  train("t.csv -o L" + kHalfLife);
  const ShellResult mixed = run("molgraph-score -m N L -i t.csv -o mixed.csv");
  EXPECT_EQ(mixed.code, 4);
  EXPECT_THAT(mixed.err, HasSubstr("the logarithm of half_life"));
}

TEST_F(LogTargetsCli, TheStartingRunDecidesForTheSameTargets) {
  train("t.csv -o N --log-targets none" + kHalfLife);
  const std::string settings = " --epochs 1 --threads 1 --no-baselines --no-blend --no-report ";
  EXPECT_THAT(train("t.csv -o M --from N" + kHalfLife, settings),
              AllOf(Not(HasSubstr("logarithm")), Not(HasSubstr("new head"))));
  EXPECT_THAT(train("t.csv -o L --from N --log-targets half_life" + kHalfLife, settings),
              AllOf(HasSubstr("logarithm"), HasSubstr("with a new head")));
  EXPECT_THAT(train("t.csv -o K --from L" + kHalfLife, settings),
              AllOf(HasSubstr("logarithm"), Not(HasSubstr("new head"))));
}

TEST_F(LogTargetsCli, OutlierLabelsAreReportedInTheUnitOfTheTable) {
  scratch.write("o.csv", scratch.read("t.csv") + "CCCCCCCCCCCCI,1e+30,1\n");
  // Rows 1 to 320 are the training and the validation set. Their median is 10^(0.05 * 19.5 + 0.035).
  const std::string log = train("o.csv -o O --split-type order" + kHalfLife);
  EXPECT_THAT(log, HasSubstr("'half_life' 1.000e+30 (row 401"));
  EXPECT_THAT(log, HasSubstr("median deviations from the median 10.23; the most similar molecules have "));
  // Of its neighbours, chains of 10 to 17 carbon atoms, none has a half-life below 2.
  const std::string have = "molecules have ";
  EXPECT_GT(std::stod(log.substr(log.find(have) + have.size())), 2);
  // The unit does not matter.
  std::string thousandfold = "smiles,half_life\n";
  const auto smiles = column("o.csv", "smiles"), labels = column("o.csv", "half_life");
  for (std::size_t i = 0; i < smiles.size(); ++i)
    thousandfold += smiles[i] + "," + number(std::stod(labels[i]) / 1000) + "\n";
  scratch.write("milli.csv", thousandfold);
  const auto deviations = [](const std::string& text) {
    const std::size_t end = text.find(" median deviations");
    return text.substr(text.rfind(' ', end - 1), end - text.rfind(' ', end - 1));
  };
  EXPECT_EQ(deviations(train("milli.csv -o M --split-type order" + kHalfLife)), deviations(log));
}

TEST_F(LogTargetsCli, AuxiliaryTargetsAndCensoredLabels) {
  std::string table = scratch.read("t.csv");
  table.replace(table.find("CO,1,"), 5, "CO,<1.5,");
  scratch.write("c.csv", table);
  EXPECT_THAT(train("c.csv -o C --auxiliary-targets logD" + kHalfLife, kTiny + "--no-report --out-of-fold "),
              HasSubstr("logarithm (base 10) of half_life"));
  std::string all;
  for (const char* part : {"C/test_predictions.csv", "C/valid_predictions.csv"}) all += scratch.read(part);
  EXPECT_THAT(all, HasSubstr(",CO,<1.5,"));
}

TEST_F(LogTargetsCli, LabelsThatAreNotPositiveTurnTheDefaultOff) {
  scratch.write("z.csv", scratch.read("t.csv") + "CCCCCCCCCCCCI,0,1\n");
  EXPECT_THAT(train("z.csv -o Z" + kHalfLife),
              AllOf(HasSubstr("does not learn their logarithms, because 1 label is 0 or less"),
                    Not(HasSubstr("learns the logarithm"))));
  train("t.csv -o L" + kHalfLife);
  EXPECT_THAT(
      train("z.csv -o N --from L" + kHalfLife, " --epochs 1 --threads 1 --no-baselines --no-blend --no-report "),
      AllOf(HasSubstr("with a new head"), HasSubstr("This run does not, because some labels are 0 or less"),
            Not(HasSubstr("learns the logarithm"))));
}

}  // namespace
}  // namespace molgraph::test
