// The record of a run, from training to molgraph-info; damaged and incomplete models; training that starts from a run
// with other features.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

const std::string kTiny = " --epochs 1 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 ";

class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string table = "smiles,logS\n";
    for (int k = 0; k < 40; ++k)
      table += std::string(static_cast<std::size_t>(1 + k % 20), 'C') + (k < 20 ? "O," : "N,") + std::to_string(k % 7) +
               "\n";
    scratch.write("small.csv", table + "not one,1\n");
  }

  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  void train(const std::string& arguments) {
    const ShellResult result = run("molgraph-train small.csv" + kTiny + arguments);
    ASSERT_EQ(result.code, 0) << result.err;
  }

  Scratch scratch;
};

TEST_F(RunTest, InfoStartsWithTheMostImportantFacts) {
  train("-o R");
  const auto lines = lines_of(run("molgraph-info R").out);
  ASSERT_GT(lines.size(), 9u);
  const char* pieces[] = {
      "R (run)",
      "predicts      logS (regression)",
      "inputs        the molecule and its 207 descriptors (--descriptors)",
      "data          small.csv: 40 molecules, 1 row rejected (rejected.csv); split random: 32 train, 4 valid, 4 test",
      "results       test (4 molecules): mae ",
      "contains      fingerprints and embeddings of 36 training molecules, ",
      "created       20",
      "model         GRPE with URPE's gate, ",
      "report (test set"};
  for (std::size_t k = 0; k < std::size(pieces); ++k)
    EXPECT_NE(lines[k].find(pieces[k]), std::string::npos) << lines[k];
  EXPECT_NE(lines.back().find("-v"), std::string::npos) << lines.back();
  EXPECT_NE(lines[4].find("; always predicting the training set's average: mae "), std::string::npos) << lines[4];
  EXPECT_NE(lines[6].find(" UTC by molgraph "), std::string::npos) << lines[6];
  const std::string all = run("molgraph-info R -v").out;
  EXPECT_EQ(all.find("R (run)"), 0u);
  EXPECT_NE(all.find("max_distance"), std::string::npos);

  const auto card = nlohmann::json::parse(run("molgraph-info R --json").out);
  EXPECT_EQ(card["data"]["given"][0], "small.csv");
  EXPECT_EQ(card["data"]["sha256"].get<std::string>().size(), 64u);
  EXPECT_EQ(card["baseline"]["metric"], "mae");
  // The error of the training set's mean, computed from the files of the run.
  double sum = 0, error = 0;
  std::vector<double> train_values, test_values;
  const auto splits = lines_of(scratch.read("R/splits.csv")), table = lines_of(scratch.read("small.csv"));
  for (std::size_t k = 1; k < splits.size(); ++k) {
    const double value = std::stod(cells_of(table[k])[1]);
    if (cells_of(splits[k])[3] == "train") train_values.push_back(value), sum += value;
    if (cells_of(splits[k])[3] == "test") test_values.push_back(value);
  }
  for (const double value : test_values) error += std::abs(value - sum / static_cast<double>(train_values.size()));
  EXPECT_NEAR(card["baseline"]["test"], error / static_cast<double>(test_values.size()), 1e-5);
}

TEST_F(RunTest, InfoListsWhatOlderRunsDoNotRecord) {
  train("-o R");
  std::filesystem::remove(scratch.path("R/run.json"));
  const ShellResult result = run("molgraph-info R && molgraph-score -m R/model.safetensors -i small.csv -o out.csv");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(run("molgraph-score -m R -i small.csv -o out.csv").code, 4);
  const auto lines = lines_of(result.out);
  EXPECT_NE(lines[3].find("not recorded: run.json is missing or incomplete"), std::string::npos) << lines[3];
  EXPECT_NE(lines[3].find("32 train"), std::string::npos) << lines[3];
  EXPECT_NE(lines[4].find("baseline not recorded"), std::string::npos) << lines[4];
  EXPECT_NE(lines[5].find("run.json is missing"), std::string::npos) << lines[5];
  EXPECT_EQ(lines[7].find("created"), 2u) << lines[7];
  EXPECT_NE(lines[7].find("not recorded"), std::string::npos) << lines[7];
  const std::string file = run("molgraph-info R/model.safetensors").out;
  EXPECT_NE(file.find("see its run directory"), std::string::npos) << file;
}

TEST_F(RunTest, WeightsAndMetricsContainNoTimeOrPath) {
  train("-o A");
  train("-o B/deeper");
  for (const char* name : {"/model.safetensors", "/metrics.csv", "/results.csv", "/splits.csv"})
    EXPECT_TRUE(scratch.read(std::string("A") + name) == scratch.read(std::string("B/deeper") + name)) << name;
}

TEST_F(RunTest, EnsembleRecordsItsMembers) {
  train("-o E --ensemble-size 2");
  train("-o F --folds 2");
  for (const std::string folder : {"E", "F"}) {
    EXPECT_EQ(nlohmann::json::parse(scratch.read(folder + "/run.json"))["members"], 2);
    const ShellResult whole =
        run("molgraph-info " + folder + " && molgraph-score -m " + folder + " -i small.csv -o out.csv");
    ASSERT_EQ(whole.code, 0) << whole.err;
    EXPECT_NE(whole.out.find("2 x GRPE"), std::string::npos) << whole.out;
    std::filesystem::remove_all(scratch.path(folder + "/model_1"));
    for (const std::string& command :
         {"molgraph-score -m " + folder + " -i small.csv -o again.csv", "molgraph-info " + folder}) {
      const ShellResult result = run(command);
      EXPECT_EQ(result.code, 4) << command;
      EXPECT_NE(result.err.find(folder + "/model_1 is missing: the run has 2 models"), std::string::npos) << result.err;
    }
    EXPECT_FALSE(scratch.exists("again.csv"));
    EXPECT_EQ(run("molgraph-score -m " + folder + "/model_0 -i small.csv -o one.csv").code, 0)
        << "a single member is a run";
  }
}

TEST_F(RunTest, FoldsAreReportedAsMeanAndDeviation) {
  train("-o F --folds 2");
  const auto lines = lines_of(run("molgraph-info F").out);
  EXPECT_NE(lines[3].find("split random folds (2)"), std::string::npos) << lines[3];
  EXPECT_NE(lines[4].find("test (mean of the folds): mae "), std::string::npos) << lines[4];
  EXPECT_NE(lines[4].find(" +- "), std::string::npos) << lines[4];
}

TEST_F(RunTest, ClassifierBaselineUsesClassFrequencies) {
  std::string table = "smiles,kind\n";
  for (int k = 0; k < 40; ++k)
    table += std::string(static_cast<std::size_t>(1 + k), 'C') + (k % 4 == 0 ? ",a\n" : k % 4 == 1 ? ",b\n" : ",c\n");
  scratch.write("classes.csv", table);
  const ShellResult result = run("molgraph-train classes.csv -t multiclass --target-columns kind -o C" + kTiny);
  ASSERT_EQ(result.code, 0) << result.err;
  const auto card = nlohmann::json::parse(run("molgraph-info C --json").out);
  EXPECT_EQ(card["baseline"]["metric"], "accuracy");
  EXPECT_NEAR(card["baseline"]["train"], 0.5, 0.07) << "half of the molecules are of class c";
  EXPECT_NE(run("molgraph-info C").out.find("kind (multiclass: a, b, c)"), std::string::npos);
}

TEST_F(RunTest, DamagedWeightsAreDetected) {
  save_tiny_run(scratch.path("R"), tiny_config(grpe_architecture(), {"y"}), 1);
  std::string bytes = scratch.read("R/model.safetensors");
  bytes[bytes.size() - 1000] = static_cast<char>(bytes[bytes.size() - 1000] ^ 1);
  scratch.write("R/model.safetensors", bytes);
  for (const char* command :
       {"molgraph-score -m R -i small.csv -o out.csv", "molgraph-info R", "molgraph-train small.csv --from R -o N"}) {
    const ShellResult result = run(command);
    EXPECT_EQ(result.code, 4) << command;
    EXPECT_NE(result.err.find("R/model.safetensors: its data are damaged"), std::string::npos) << result.err;
  }
}

TEST_F(RunTest, NonFiniteRowsAreCounted) {
  save_tiny_run(scratch.path("R"), tiny_config(grpe_architecture(), {"y"}), 1);
  scale_weights(scratch.path("R"), "encoder.final_norm.weight", 1e4f);
  scale_weights(scratch.path("R"), "head.linear.weight", 1e38f);
  scratch.write("two.csv", "smiles\nc1ccccc1C(=O)O\nnot one\n");
  const ShellResult result = run("molgraph-score -m R -i two.csv -o out.csv");
  EXPECT_EQ(result.code, 3) << "no usable row";
  EXPECT_NE(result.err.find("2 rows"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("0 ok, 1 invalid_smiles, 1 not_finite"), std::string::npos) << result.err;
}

TEST_F(RunTest, StartingFromOtherFeaturesIsAUsageError) {
  train("-o R --features ogb");
  const ShellResult table = run("molgraph-train small.csv --from R --features zinc -o N");
  EXPECT_EQ(table.code, 2) << table.err;
  EXPECT_NE(table.err.find("--features zinc contradicts R"), std::string::npos) << table.err;
  EXPECT_FALSE(scratch.exists("N"));
  ASSERT_EQ(run("molgraph-featurize small.csv --features zinc -o zinc.h5").code, 0);
  const ShellResult store = run("molgraph-train zinc.h5 --from R -o N");
  EXPECT_EQ(store.code, 2) << store.err;
  EXPECT_EQ(run("molgraph-train small.csv --from R --features ogb --epochs 1 --threads 1 -o M").code, 0)
      << "the same features";
}

/// A table with the size and the split of zinc, but with small molecules.
std::string like_zinc() {
  std::string table = "split,smiles,y\n";
  for (int k = 0; k < 12000; ++k)
    table += std::string(k < 10000   ? "train,"
                         : k < 11000 ? "valid,"
                                     : "test,") +
             std::string(static_cast<std::size_t>(1 + k % 9), 'C') + "O," + std::to_string(k % 9) + "\n";
  return table;
}

TEST_F(RunTest, RecipeIsTheDefaultOfItsDataSet) {
  ASSERT_TRUE(std::filesystem::create_directory(scratch.path("D")));
  scratch.write("D/zinc12k.csv", like_zinc());
  const std::string call = "molgraph-train zinc --data-dir D --limit 300 --steps 2 --threads 1 ";
  const ShellResult own = run(call + "--lr 2e-4 -o own");
  ASSERT_EQ(own.code, 0) << own.err;
  EXPECT_NE(own.err.find("Settings of --recipe zinc"), std::string::npos) << own.err;
  EXPECT_NE(own.out.find("Measured with this recipe: test MAE"), std::string::npos) << own.out;
  const std::string settings = scratch.read("own/config.toml");
  for (const char* line : {"recipe = 'zinc'", "encoding = 'grpe-walk'", "pair-relations = [ 'walks', 'paths' ]",
                           "walk-terms = [ 'input', 'gate' ]", "pair-state = 32", "ffn = 64", "pe-dim = 4",
                           "batch-size = 32", "lr = 0.0002", "steps = 2"})
    EXPECT_NE(settings.find(line), std::string::npos) << line << "\n" << settings;
  ASSERT_EQ(run(call + "--config own/config.toml -o again && cmp own/metrics.csv again/metrics.csv").code, 0);
  // Version 0.1.0 had no pair states, and its recipe other settings. A file with some options only has the recipe's.
  ASSERT_EQ(run("sed '/^pair-state/d; /^log-targets/d' own/config.toml > old.toml").code, 0);
  ASSERT_EQ(run(call + "--config old.toml -o old").code, 0);
  EXPECT_NE(scratch.read("old/config.toml").find("pair-state = 0\n"), std::string::npos);
  scratch.write("some.toml", "recipe = 'zinc'\n");
  ASSERT_EQ(run(call + "--config some.toml -o some").code, 0);
  EXPECT_NE(scratch.read("some/config.toml").find("pair-state = 32\n"), std::string::npos);
  ASSERT_EQ(run(call + "--lr 2e-4 -o own --resume").code, 0);
  const ShellResult scored = run("molgraph-score -m own -i small.csv -o a.csv && grep -c ,ok a.csv");
  EXPECT_EQ(scored.out, "40\n") << scored.err;

  for (const char* option : {"--model graphormer", "--encoding grpe", "--size slim", "--recipe grpe-zinc"}) {
    const ShellResult other =
        run(call + option + " -o other > log && grep -c \"encoding = 'grpe-walk'\" other/config.toml");
    EXPECT_EQ(other.out, "0\n") << option << other.err;
    EXPECT_EQ(other.err.find("recipe zinc"), std::string::npos) << option << other.err;
    std::filesystem::remove_all(scratch.path("other"));
  }
}

TEST_F(RunTest, ResumeRequiresTheSameSplit) {
  const std::string part = R"({"train": "0-29", "val": "30-34", "test": "35-39"})";
  scratch.write("s.json", part);
  train("-o R --splits-file s.json --no-blend");
  const std::string splits = scratch.read("R/splits.csv");
  scratch.write("s.json", R"({"train": "0-24,35-39", "val": "30-34", "test": "25-29"})");
  const ShellResult other = run("molgraph-train -o R --resume");
  EXPECT_EQ(other.code, 4);
  EXPECT_NE(other.err.find("another split"), std::string::npos) << other.err;
  EXPECT_EQ(scratch.read("R/splits.csv"), splits);
  scratch.write("s.json", part);
  std::filesystem::remove(scratch.path("R/splits.csv"));  // as molgraph-info --strip does
  EXPECT_EQ(run("molgraph-train -o R --resume").code, 0);
  EXPECT_EQ(scratch.read("R/splits.csv"), splits);
}

TEST_F(RunTest, ConfigOfARunTrainsOtherDataForTheSameEpochs) {
  const std::string call =
      "molgraph-train small.csv --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 "
      "-o R --no-report --no-domain --no-blend --no-baselines --batch-size 8 ";
  ASSERT_EQ(run(call).code, 0);
  std::string table = "smiles,logS\n";
  for (int k = 0; k < 80; ++k)
    table += "CC" + std::string(static_cast<std::size_t>(1 + k % 40), 'C') + (k < 40 ? "S," : "F,") +
             std::to_string(k % 5) + "\n";
  scratch.write("more.csv", table);
  // A flag that config.toml turns off can be repeated.
  const ShellResult more = run("molgraph-train more.csv --config R/config.toml -o M --no-report --no-domain");
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_NE(scratch.read("M/config.toml").find("\nsteps = 16\n"), std::string::npos) << scratch.read("M/config.toml");
  EXPECT_EQ(run(call + "--resume").code, 0);
  const ShellResult quality = run("molgraph-train small.csv --config R/config.toml -o Q --quality best");
  EXPECT_EQ(quality.code, 2);
  EXPECT_NE(quality.err.find("--quality has no effect"), std::string::npos) << quality.err;
}

}  // namespace
}  // namespace molgraph::test
