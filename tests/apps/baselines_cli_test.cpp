// Baselines in the results, and blends of a model with trees and a Gaussian process, from training to scoring.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/training/baselines/booster.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 ";

class BaselinesCli : public testing::Test {
 protected:
  /// Chains that end in O, N or Cl. The target increases with the chain length, so trees learn it quickly.
  void SetUp() override {
    std::string table = "smiles,logS,active,kind\n";
    for (int k = 0; k < 120; ++k) {
      const int length = 2 + k / 6;
      const std::string end = k % 3 == 0 ? "O" : k % 3 == 1 ? "N" : "Cl";
      table += std::string(static_cast<std::size_t>(length), 'C') + (k % 2 == 0 ? "(C)" : "") + end + "," +
               std::to_string(0.5 * length + k % 3) + "," + (length > 10 ? "1" : "0") + ",k" + std::to_string(k % 3) +
               "\n";
    }
    scratch.write("small.csv", table);
  }

  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult train(const std::string& arguments, const std::string& targets = "logS") {
    ShellResult result = run("molgraph-train small.csv" + kTiny + arguments + " --target-columns " + targets);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  std::string header(const std::string& folder) { return lines_of(scratch.read(folder + "/results.csv"))[0]; }
  /// The cells of column `name` of a file, without the header.
  std::vector<std::string> column(const std::string& file, const std::string& name) {
    std::vector<std::string> values;
    std::size_t at = 0;
    for (const std::string& line : lines_of(scratch.read(file))) {
      const auto cells = cells_of(line);
      if (values.empty() && at == 0) at = static_cast<std::size_t>(std::ranges::find(cells, name) - cells.begin());
      values.push_back(cells.at(at));
    }
    values.erase(values.begin());
    return values;
  }

  Scratch scratch;
};

const std::string kHeader = "part,n,metric,value,reason";

class BlendCli : public BaselinesCli {
 protected:
  void SetUp() override {
    if (xgboost_version().empty()) GTEST_SKIP() << "built without XGBoost";
    BaselinesCli::SetUp();
  }
};

TEST_F(BaselinesCli, AreReportedForOwnTables) {
  const ShellResult result = train("-o R --no-blend");
  const bool trees = !xgboost_version().empty();
  EXPECT_EQ(header("R"), kHeader + ",mean_predictor,nearest_neighbour" + (trees ? ",trees" : "") + ",gaussian_process");
  EXPECT_NE(result.out.find("nearest neighbour"), std::string::npos) << result.out;
  EXPECT_EQ(result.err.find("baseline left out: built without XGBoost") == std::string::npos, trees) << result.err;
  EXPECT_FALSE(scratch.exists("R/trees.safetensors") || scratch.exists("R/gaussian_process.safetensors"));

  // The nearest neighbours have nearly the same length, so their labels are much closer than the mean (test MAE).
  EXPECT_LT(std::stod(column("R/results.csv", "nearest_neighbour")[6]),
            0.7 * std::stod(column("R/results.csv", "mean_predictor")[6]));
  const auto record = nlohmann::json::parse(scratch.read("R/run.json"));
  EXPECT_TRUE(record["baselines"].contains("nearest_neighbour"));
  const std::string info = run("molgraph-info R").out;
  EXPECT_NE(info.find(", nearest neighbour "), std::string::npos) << info;
  EXPECT_EQ(info.find("blended with"), std::string::npos) << info;
  // After two epochs, the transformer is worse than a simple method, which the log reports.
  EXPECT_NE(result.err.find("On the validation set, a simple method is better than the transformer (mae "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("; --blend combines both"), std::string::npos) << result.err;

  train("-o off --no-baselines");
  EXPECT_EQ(header("off"), kHeader);
  EXPECT_FALSE(nlohmann::json::parse(scratch.read("off/run.json")).contains("baselines"));
  EXPECT_TRUE(scratch.read("R/model.safetensors") == scratch.read("off/model.safetensors"));
  train("-o again --no-blend --threads 1");
  EXPECT_EQ(scratch.read("R/results.csv"), scratch.read("again/results.csv"));
}

TEST_F(BaselinesCli, AreReportedForFolds) {
  train("-o F --folds 2");
  const std::string top = lines_of(scratch.read("F/results.csv"))[0];
  EXPECT_EQ(top.find("part,fold,metric,value,nearest_neighbour"), 0u) << top;
  const auto values = column("F/results.csv", "nearest_neighbour");
  ASSERT_EQ(values.size(), 12u);  // three sets of two folds, the means and the standard deviations
  EXPECT_NEAR((std::stod(values[2]) + std::stod(values[5])) / 2, std::stod(values[8]), 1e-5);
  EXPECT_EQ(run("molgraph-info F").code, 0);
}

TEST_F(BlendCli, IsUsedForScoring) {
  const ShellResult trained = train("-o B --blend --descriptors none");
  ASSERT_TRUE(scratch.exists("B/trees.safetensors"));
  EXPECT_EQ(header("B"), kHeader + ",mean_predictor,nearest_neighbour,trees,gaussian_process,transformer");
  EXPECT_NE(trained.err.find("Blend: the shares of the Gaussian process and the trees are 0."), std::string::npos)
      << trained.err;
  EXPECT_NE(run("molgraph-info B").out.find("; blended with trees, gaussian process"), std::string::npos);
  // The partner with the smaller validation MAE gets the larger share.
  double process_share = 0, trees_share = 0;
  const std::string shares = trained.err.substr(trained.err.find("trees are ") + 10);
  ASSERT_EQ(std::sscanf(shares.c_str(), "%lf + %lf", &process_share, &trees_share), 2) << shares;
  const double trees_err = std::stod(column("B/results.csv", "trees")[3]),
               process_err = std::stod(column("B/results.csv", "gaussian_process")[3]);
  EXPECT_LT(process_err, 0.8 * trees_err) << "the partners differ too little for this test";
  EXPECT_GT(process_share, trees_share);

  // The folder can be moved. Scoring reproduces its test predictions.
  std::filesystem::create_directories(scratch.path("deeper"));
  std::filesystem::rename(scratch.path("B"), scratch.path("deeper/C"));
  ASSERT_EQ(run("molgraph-score -m deeper/C -i deeper/C/test_predictions.csv -o scored.csv").code, 0);
  const auto expected = column("deeper/C/test_predictions.csv", "logS_pred"),
             scored = column("scored.csv", "molgraph_logS_pred");
  ASSERT_EQ(expected.size(), 12u);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(std::stod(expected[i]), std::stod(scored[i]), 1e-4) << i;
  // The model file contains only the transformer, which predicts other values.
  ASSERT_EQ(run("molgraph-score -m deeper/C/model.safetensors -i deeper/C/test_predictions.csv -o alone.csv").code, 0);
  const auto alone = column("alone.csv", "molgraph_logS_pred");
  double difference = 0;
  for (std::size_t i = 0; i < scored.size(); ++i) difference += std::abs(std::stod(alone[i]) - std::stod(scored[i]));
  EXPECT_GT(difference, 1);
  // Embeddings come from the transformer.
  EXPECT_EQ(run("molgraph-embed -m deeper/C -i small.csv -o a.npy && molgraph-embed -m deeper/C/model.safetensors -i "
                "small.csv -o b.npy && cmp a.npy b.npy")
                .code,
            0);

  const auto results = column("deeper/C/results.csv", "value"), trees = column("deeper/C/results.csv", "trees"),
             transformer = column("deeper/C/results.csv", "transformer");
  // The validation MAE is at most the larger of the two, whatever the share is.
  EXPECT_LE(std::stod(results[3]), std::max(std::stod(trees[3]), std::stod(transformer[3])) + 1e-6);
}

TEST_F(BaselinesCli, BlendIsTheDefaultForOwnTables) {
  const auto has_partner = [&](const std::string& folder) {
    return scratch.exists(folder + "/gaussian_process.safetensors");
  };
  train("-o D");
  train("-o B --blend");
  EXPECT_TRUE(has_partner("D"));
  EXPECT_EQ(scratch.read("D/test_predictions.csv"), scratch.read("B/test_predictions.csv"));
  train("-o F --quality fast");
  EXPECT_FALSE(has_partner("F"));
  EXPECT_EQ(header("F"), kHeader);
  train("-o A --baselines");
  EXPECT_EQ(scratch.read("D/test_predictions.csv"), scratch.read("A/test_predictions.csv"));
  train("-o N --no-baselines");
  EXPECT_FALSE(has_partner("N"));
  const ShellResult without_validation = train("-o V --split-sizes 0.9 0 0.1");
  EXPECT_NE(without_validation.err.find("No blend with trees and a Gaussian process: there is no validation set"),
            std::string::npos)
      << without_validation.err;
  EXPECT_FALSE(has_partner("V"));
  EXPECT_EQ(
      run("molgraph-train small.csv --target-columns logS -o P --recipe grpe-zinc --steps 2" + kTiny.substr(11)).code,
      0);
  EXPECT_FALSE(has_partner("P"));
  EXPECT_EQ(run("molgraph-train demo -o M" + kTiny).code, 0);
  EXPECT_FALSE(has_partner("M"));
}

TEST_F(BaselinesCli, BlendWithoutItsGaussianProcessFails) {
  train("-o B");
  std::filesystem::remove(scratch.path("B/gaussian_process.safetensors"));
  const ShellResult result = run("molgraph-score -m B -i small.csv -o out.csv");
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_NE(result.err.find("gaussian_process.safetensors is missing"), std::string::npos) << result.err;
}

TEST_F(BlendCli, FailsWithoutItsTrees) {
  train("-o B --blend");
  train("-o E --blend --ensemble-size 2");
  std::filesystem::remove(scratch.path("B/trees.safetensors"));
  EXPECT_FALSE(scratch.exists("E/model_1/trees.safetensors")) << "the ensemble's folder contains the trees";
  ASSERT_EQ(run("molgraph-score -m E/model_1 -i small.csv -o one.csv").code, 0);
  std::filesystem::remove(scratch.path("E/trees.safetensors"));
  for (const std::string folder : {"B", "E", "E/model_1"}) {
    const ShellResult result = run("molgraph-score -m " + folder + " -i small.csv -o out.csv");
    EXPECT_EQ(result.code, 4) << result.err;
    EXPECT_NE(result.err.find("trees.safetensors is missing"), std::string::npos) << result.err;
  }
  scratch.write("B/trees.safetensors", "no trees");
  EXPECT_EQ(run("molgraph-score -m B -i small.csv -o other.csv").code, 4);
}

TEST_F(BlendCli, ScoresEnsemblesFoldsAndClassesAsInTraining) {
  const std::vector<std::array<std::string, 2>> cases{{"-o E --ensemble-size 2", "logS"},
                                                      {"-o F --folds 2", "logS"},
                                                      {"-o G", "active"},
                                                      {"-o H -t multiclass", "kind"},
                                                      {"-o I -t regression", "logS active"},
                                                      {"-o J -t mixed", "logS active"}};
  for (const auto& [arguments, targets] : cases) {
    const std::string folder = arguments.substr(3, 1);
    train("--blend " + arguments, targets);
    const std::string model = folder == "F" ? "F/model_1" : folder;
    ASSERT_EQ(run("molgraph-score -m " + model + " -i " + model + "/test_predictions.csv -o " + folder + ".csv").code,
              0);
    const auto names = cells_of(lines_of(scratch.read(model + "/test_predictions.csv"))[0]);
    int compared = 0;
    for (const std::string& name : names) {
      if (!name.ends_with("_pred") && name.find("_prob_") == std::string::npos) continue;
      const auto expected = column(model + "/test_predictions.csv", name),
                 scored = column(folder + ".csv", "molgraph_" + name);
      ASSERT_EQ(expected.size(), scored.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (name == "kind_pred") EXPECT_EQ(expected[i], scored[i]);
        else EXPECT_NEAR(std::stod(expected[i]), std::stod(scored[i]), 1e-4) << arguments << " " << name << " " << i;
      }
      ++compared;
    }
    EXPECT_EQ(compared, folder == "H" ? 4 : targets == "logS active" ? 2 : 1) << arguments;
  }
  EXPECT_EQ(run("molgraph-score -m F -i small.csv -o f.csv").code, 0);
}

TEST_F(BlendCli, ScoresWithDescriptorsAndDescriptorColumns) {
  train("-o D --blend --descriptors rdkit --descriptor-columns active");
  ASSERT_EQ(run("molgraph-score -m D -i small.csv -o d.csv").code, 0);
  const auto expected = column("D/test_predictions.csv", "logS_pred"),
             smiles = column("D/test_predictions.csv", "smiles");
  const auto all = column("d.csv", "smiles"), scored = column("d.csv", "logS_pred");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto at = static_cast<std::size_t>(std::ranges::find(all, smiles[i]) - all.begin());
    EXPECT_NEAR(std::stod(expected[i]), std::stod(scored.at(at)), 1e-4) << smiles[i];
  }
}

TEST_F(BlendCli, RowsThatCannotBeReadDoNotChangeTheOthers) {
  train("-o D --blend");
  std::vector<std::string> lines = lines_of(scratch.read("small.csv"));
  for (const std::ptrdiff_t at : {1, 2, 20}) lines.insert(lines.begin() + at, "C1CC,0,0,a");
  std::string table;
  for (const std::string& line : lines) table += line + "\n";
  scratch.write("gaps.csv", table);
  ASSERT_EQ(run("molgraph-score -m D -i small.csv -o d.csv --interval 0.9").code, 0);
  ASSERT_EQ(run("molgraph-score -m D -i gaps.csv -o gaps_out.csv --interval 0.9").code, 0);
  for (const char* name : {"logS_pred", "logS_low"}) {
    auto expected = column("d.csv", name);
    for (const std::ptrdiff_t at : {0, 1, 19}) expected.insert(expected.begin() + at, "");
    EXPECT_EQ(column("gaps_out.csv", name), expected) << name;
  }
  std::set<std::string> widths;  // they depend on the molecule
  const auto low = column("d.csv", "logS_low"), high = column("d.csv", "logS_high");
  for (std::size_t i = 0; i < low.size(); ++i)
    widths.insert(std::to_string(std::round(100 * (std::stod(high[i]) - std::stod(low[i])))));
  EXPECT_GT(widths.size(), 2u);
}

TEST_F(BlendCli, ResumingAFinishedRunChangesNothing) {
  train("-o R --blend");
  const std::string trees = scratch.read("R/trees.safetensors"), results = scratch.read("R/results.csv");
  ASSERT_EQ(run("molgraph-train -o R --resume").code, 0);
  EXPECT_TRUE(trees == scratch.read("R/trees.safetensors"));
  EXPECT_EQ(results, scratch.read("R/results.csv"));
}

TEST_F(BaselinesCli, ImpossibleBlendIsAUsageError) {
  const auto usage_error = [&](const std::string& arguments) {
    const ShellResult result = run("molgraph-train small.csv --target-columns logS --blend -o X" + kTiny + arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_FALSE(scratch.exists("X"));
    return result.err;
  };
  EXPECT_NE(usage_error("--no-baselines").find("--no-baselines"), std::string::npos);
  EXPECT_NE(usage_error("--split-sizes 0.9 0 0.1").find("no validation set"), std::string::npos);
}

TEST(Scoring, DoesNotLinkXgboost) {
  const Scratch scratch;
  const ShellResult result =
      scratch.run(bin_dir(), "for p in score embed info featurize; do ldd $(command -v molgraph-$p); done");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("xgboost"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace molgraph::test
