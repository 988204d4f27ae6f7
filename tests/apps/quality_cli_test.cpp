// --quality, and ensembles whose members have their own validation sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 ";

class QualityCli : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string table = "smiles,y,year\n";
    for (int k = 0; k < 100; ++k)
      table += std::string(static_cast<std::size_t>(2 + k / 4), 'C') + (k % 2 == 0 ? "(C)" : "") +
               (k % 4 < 2 ? "O" : "N") + "," + std::to_string(0.5 * k) + "," + std::to_string(2000 + k % 20) + "\n";
    scratch.write("small.csv", table);
  }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult train(const std::string& arguments) {
    ShellResult result = run("molgraph-train small.csv --target-columns y" + kTiny + arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  /// SMILES in FOLDER/splits.csv, by the name of the set.
  std::map<std::string, std::set<std::string>> sets_of(const std::string& folder) {
    std::map<std::string, std::set<std::string>> sets;
    for (const std::string& line : lines_of(scratch.read(folder + "/splits.csv"))) {
      const auto cells = cells_of(line);
      sets[cells.at(3)].insert(cells.at(2));
    }
    sets.erase("split");
    return sets;
  }
  static std::set<std::string> union_of(std::set<std::string> a, const std::set<std::string>& b) {
    a.insert(b.begin(), b.end());
    return a;
  }
  std::string member(int m) { return "B/model_" + std::to_string(m); }

  Scratch scratch;
};

TEST_F(QualityCli, FolderOrFileNamedLikeADataSetChangesNothing) {
  std::string esol = "Compound ID,Molecular Weight,measured log solubility in mols per litre,smiles\n";
  for (int k = 1; k <= 60; ++k)
    esol += "m" + std::to_string(k) + "," + std::to_string(14 * k) + "," + std::to_string(-0.1 * k) + "," +
            std::string(static_cast<std::size_t>(k), 'C') + "\n";
  scratch.write("D/delaney-processed.csv", esol);
  const std::string call = "molgraph-train esol --data-dir D --split-type random" + kTiny;
  ASSERT_EQ(run(call + "-o A").code, 0);
  scratch.write("esol/notes.txt", "mine");
  ASSERT_EQ(run(call + "-o B").code, 0);
  EXPECT_THAT(scratch.read("A/config.toml"), HasSubstr("\nblend = 'off'\n")) << "a named data set";
  EXPECT_EQ(scratch.read("A/config.toml"), scratch.read("B/config.toml"));
  EXPECT_EQ(scratch.read("A/results.csv"), scratch.read("B/results.csv"));
  scratch.run("", "rm -r esol B && cp small.csv esol");
  const ShellResult file = run(call + "-o B");
  EXPECT_THAT(file.err, HasSubstr("to read the file of that name, use ./esol"));
  EXPECT_EQ(scratch.read("A/results.csv"), scratch.read("B/results.csv"));
  ASSERT_EQ(run(call + "--target-columns all -o F").code, 0);
  EXPECT_EQ(scratch.read("A/results.csv"), scratch.read("F/results.csv")) << "all targets of the data set";
  ASSERT_EQ(run("molgraph-train ./esol --target-columns y --seed 3" + kTiny + "-o C").code, 0);
  ASSERT_EQ(run("molgraph-train - --target-columns y --seed 3" + kTiny + "-o E < small.csv").code, 0);
  for (const char* folder : {"C", "E"})
    EXPECT_THAT(scratch.read(std::string(folder) + "/config.toml"), HasSubstr("\nblend = 'on'\n")) << folder;
}

TEST_F(QualityCli, BestTrainsFiveMembersWithDisjointValidationSets) {
  const ShellResult result = train("-o B --quality best");
  const std::string config = scratch.read("B/config.toml");
  EXPECT_THAT(config, HasSubstr("\nensemble-size = 5\n"));
  EXPECT_THAT(config, HasSubstr("\nmember-splits = 'on'\n"));
  EXPECT_THAT(config, HasSubstr("\nblend = 'on'\n"));
  auto whole = sets_of("B");
  const std::set<std::string> known = union_of(whole["train"], whole["valid"]);
  ASSERT_EQ(known.size(), 90u);
  std::set<std::string> validated;
  for (int m = 0; m < 5; ++m) {
    auto member_sets = sets_of(member(m));
    EXPECT_EQ(member_sets["test"], whole["test"]);
    EXPECT_EQ(member_sets["valid"].size(), 10u) << "as large as the requested set";
    EXPECT_EQ(union_of(member_sets["train"], member_sets["valid"]), known);
    for (const std::string& one : member_sets["valid"]) EXPECT_TRUE(validated.insert(one).second) << one;
  }
  EXPECT_FALSE(scratch.exists("B/model_5"));
  EXPECT_TRUE(scratch.exists("B/gaussian_process.safetensors"));

  // Each validation prediction comes from the only member that was not trained on the molecule.
  EXPECT_EQ(lines_of(scratch.read("B/valid_predictions.csv")).size(), 51u);
  EXPECT_THAT(lines_of(scratch.read("B/results.csv"))[1], HasSubstr("train,90,mae"));
  EXPECT_THAT(scratch.read("B/results.csv"), HasSubstr("valid,50,mae"));
  // Scoring uses all five members and their partners, and reproduces the reported predictions.
  ASSERT_EQ(run("molgraph-score -m B -i B/test_predictions.csv -o scored.csv").code, 0);
  const auto reported = lines_of(scratch.read("B/test_predictions.csv")), scored = lines_of(scratch.read("scored.csv"));
  ASSERT_EQ(reported.size(), 11u);
  ASSERT_EQ(cells_of(scored[0])[6], "molgraph_y_pred");
  for (std::size_t i = 1; i < reported.size(); ++i)
    EXPECT_NEAR(std::stod(cells_of(reported[i])[3]), std::stod(cells_of(scored[i])[6]), 1e-4);
  EXPECT_THAT(run("molgraph-info B").out, HasSubstr("5 x GRPE"));

  // The run can be resumed.
  const std::string results = scratch.read("B/results.csv");
  ASSERT_EQ(run("molgraph-train -o B --resume").code, 0);
  EXPECT_EQ(results, scratch.read("B/results.csv"));
}

TEST_F(QualityCli, ConfigReproducesTheRun) {
  train("-o B --quality best --ensemble-size 2");
  const std::string results = scratch.read("B/results.csv");
  ASSERT_EQ(run("molgraph-train --config B/config.toml -o A").code, 0);
  EXPECT_EQ(results, scratch.read("A/results.csv"));
}

TEST_F(QualityCli, EachMemberPredictsItsOwnValidationSet) {
  train("-o B --no-blend --no-baselines --ensemble-size 2 --member-splits");
  ASSERT_EQ(run("molgraph-score -m B/model_1 -i small.csv -o one.csv").code, 0);
  std::map<std::string, std::string> scored;
  for (const std::string& line : lines_of(scratch.read("one.csv"))) scored[cells_of(line)[0]] = cells_of(line)[3];
  auto member_sets = sets_of("B/model_1");
  int seen = 0;
  for (const std::string& line : lines_of(scratch.read("B/valid_predictions.csv"))) {
    const auto cells = cells_of(line);
    if (member_sets["valid"].count(cells[1]) == 0) continue;
    EXPECT_NEAR(std::stod(cells[3]), std::stod(scored.at(cells[1])), 1e-4) << cells[1];
    ++seen;
  }
  EXPECT_EQ(seen, 10);
}

TEST_F(QualityCli, FastTrainsAThirdOfTheEpochs) {
  ASSERT_EQ(
      run("molgraph-train small.csv --target-columns y --quality fast -o F --layers 1 --width 16 --ffn 16 --heads 2")
          .code,
      0);
  EXPECT_THAT(scratch.read("F/config.toml"), HasSubstr("\nepochs = 20\n"));
  EXPECT_THAT(scratch.read("F/config.toml"), HasSubstr("\nensemble-size = 1\n"));
  EXPECT_FALSE(scratch.exists("F/gaussian_process.safetensors"));
}

TEST_F(QualityCli, TimeSplitGivesAllMembersTheSameSets) {
  train("-o B --quality best --ensemble-size 2 --split-type time --time-column year");
  EXPECT_FALSE(scratch.exists("B/model_1/splits.csv"));
  EXPECT_THAT(scratch.read("B/results.csv"), HasSubstr("valid,10,mae"));
}

TEST_F(QualityCli, SplitsByRowOrderAndByTable) {
  const auto lines = lines_of(scratch.read("small.csv"));
  const std::string last = cells_of(lines.back())[0];
  EXPECT_THAT(train("-o A --split-type order").err, HasSubstr("split order: 80 train, 10 valid, 10 test"));
  EXPECT_EQ(sets_of("A")["test"].count(last), 1u);
  scratch.write("later.csv", "smiles,y\nFCCO,1\nFCCN,2\n");
  const ShellResult two =
      run("molgraph-train small.csv later.csv --target-columns y --split-sizes 0.8 0.2 0 -o B "
          "--split-type time --time-column year" +
          kTiny);
  ASSERT_EQ(two.code, 0) << two.err;
  auto sets = sets_of("B");
  EXPECT_EQ(sets["test"].size(), 2u);
  ASSERT_EQ(sets["valid"].size(), 20u) << "2016 to 2019";
  for (const std::string& line : lines) {
    const auto cells = cells_of(line);
    EXPECT_EQ(sets["valid"].count(cells[0]), cells[2] >= "2016" && cells[2] < "2020" ? 1u : 0u) << line;
  }
  EXPECT_THAT(scratch.read("B/run.json"), HasSubstr("files by time"));
  EXPECT_FALSE(scratch.exists("B/inner_0"));
}

TEST_F(QualityCli, MemberSplitsWorkWithFewGroups) {
  std::string table = "smiles,y,project\n";
  for (int k = 0; k < 70; ++k)
    table += std::string(static_cast<std::size_t>(2 + k), 'C') + "O," + std::to_string(k) + ".5,p" +
             std::to_string(k % 7) + "\n";
  scratch.write("small.csv", table);
  train("-o B --quality best --split-type group --group-column project --no-blend --no-baselines");
  EXPECT_TRUE(scratch.exists("B/model_4/splits.csv"));
}

TEST_F(QualityCli, NamedDataSetsKeepTheirSplit) {
  ASSERT_EQ(run("molgraph-train demo -o B --quality best --ensemble-size 2" + kTiny).code, 0);
  ASSERT_EQ(run("molgraph-train demo -o A" + kTiny).code, 0);
  EXPECT_EQ(sets_of("A"), sets_of("B"));
  EXPECT_FALSE(scratch.exists("B/model_0/splits.csv"));
  EXPECT_FALSE(scratch.exists("B/gaussian_process.safetensors"));
}

TEST_F(QualityCli, ContradictionsAreUsageErrors) {
  const auto usage_error = [&](const std::string& arguments) {
    const ShellResult result = run("molgraph-train small.csv --target-columns y -o X" + kTiny + arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.err;
    EXPECT_FALSE(scratch.exists("X"));
    return result.err;
  };
  EXPECT_THAT(usage_error("--member-splits"), HasSubstr("there is no --ensemble-size"));
  EXPECT_THAT(usage_error("--quality best --folds 3"), HasSubstr("--quality best and --member-splits"));
  EXPECT_THAT(usage_error("--quality good"), HasSubstr("best"));
}

TEST_F(QualityCli, RmseMetricSelectsTheMseLoss) {
  train("-o R --metric rmse --quality fast");
  EXPECT_THAT(scratch.read("R/config.toml"), HasSubstr("\nloss = 'mse'\n"));
  train("-o M --quality fast");
  EXPECT_THAT(scratch.read("M/config.toml"), HasSubstr("\nloss = 'l1'\n"));
}

}  // namespace
}  // namespace molgraph::test
