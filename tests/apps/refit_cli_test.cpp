// Runs with --refit: a second training on the training and validation sets together.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

const std::string kTiny = " --no-baselines --layers 1 --width 16 --ffn 16 --heads 2 --batch-size 8 ";

class RefitCli : public testing::Test {
 protected:
  /// Chains whose target grows with their length. The validation rows of `small.csv` are training rows in `known.csv`.
  void SetUp() override {
    std::string small = "smiles,logS,part,weight\n", known = small;
    for (int k = 0; k < 60; ++k) {
      const std::string row = std::string(static_cast<std::size_t>(2 + k / 3), 'C') + (k % 3 == 0   ? "O"
                                                                                       : k % 3 == 1 ? "N"
                                                                                                    : "Cl");
      const std::string cells = row + "," + std::to_string(0.5 * (k / 3) + k % 3) + ",";
      const bool valid = k >= 36 && k < 48;
      small += cells + (k < 36 ? "train" : valid ? "val" : "test") + (valid ? ",0\n" : ",1\n");
      known += cells + (k < 48 ? "train" : "test") + ",1\n";
    }
    scratch.write("small.csv", small);
    scratch.write("known.csv", known);
  }

  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult train(const std::string& arguments) {
    ShellResult result = run("molgraph-train " + arguments + kTiny + "--target-columns logS --splits-column part");
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  std::vector<std::string> lines(const std::string& file) { return lines_of(scratch.read(file)); }

  Scratch scratch;
};

TEST_F(RefitCli, TrainsOnAllRowsForTheBestNumberOfEpochs) {
  // With one epoch, the best epoch is the first. --refit then equals one epoch on all rows: 6 updates instead of 5.
  train("small.csv -o R --refit --epochs 1");
  train("known.csv -o K --epochs 1");
  EXPECT_TRUE(scratch.read("R/model.safetensors") == scratch.read("K/model.safetensors"));
  EXPECT_EQ(scratch.read("R/test_predictions.csv"), scratch.read("K/test_predictions.csv"));
  EXPECT_FALSE(scratch.exists("K/valid_predictions.csv"));
}

TEST_F(RefitCli, ValidationPredictionsAreFromTheFirstTraining) {
  // The validation labels are far from all other labels. Training makes their predictions worse, so the best epoch is
  // an early one.
  std::string contrary;
  for (const std::string& line : lines("small.csv")) {
    const auto cells = cells_of(line);
    contrary += cells[2] == "val" ? cells[0] + ",-" + std::to_string(50 + cells[0].size()) + ",val,0\n" : line + "\n";
  }
  scratch.write("contrary.csv", contrary);
  const std::string epochs = "--epochs 12 --lr 0.01 ";
  train("contrary.csv -o P " + epochs);
  const ShellResult refitted = train("contrary.csv -o R --refit " + epochs);
  EXPECT_EQ(lines("P/valid_predictions.csv").size(), 13u);
  EXPECT_EQ(scratch.read("R/valid_predictions.csv"), scratch.read("P/valid_predictions.csv"));
  const auto results = lines("R/results.csv"), plain = lines("P/results.csv");
  ASSERT_EQ(results.size(), plain.size());
  for (std::size_t i = 1; i < results.size(); ++i)
    EXPECT_EQ(results[i] == plain[i], results[i].starts_with("valid")) << results[i];
  EXPECT_FALSE(scratch.read("R/model.safetensors") == scratch.read("P/model.safetensors"));

  // The second training has as many epochs as the log gives for the best epoch of the first.
  const std::string phrase = "the best validation epoch is ";
  const auto at = refitted.err.find(phrase);
  ASSERT_NE(at, std::string::npos) << refitted.err;
  const int best = std::stoi(refitted.err.substr(at + phrase.size()));
  EXPECT_LT(best, 12) << "otherwise the limit is not tested";
  EXPECT_EQ(lines("R/refit/metrics.csv").size(), static_cast<std::size_t>(best) + 1);
  EXPECT_EQ(lines("R/metrics.csv").size(), 13u);

  // Scoring with the run reproduces its test predictions.
  ASSERT_EQ(run("molgraph-score -m R -i R/test_predictions.csv -o scored.csv").code, 0);
  const auto expected = lines("R/test_predictions.csv"), scored = lines("scored.csv");
  ASSERT_EQ(scored.size(), expected.size());
  for (std::size_t i = 1; i < expected.size(); ++i)
    EXPECT_NEAR(std::stod(cells_of(expected[i]).at(3)), std::stod(cells_of(scored[i]).at(4)), 1e-4) << scored[i];
}

TEST_F(RefitCli, RowsOfWeightZeroHaveNoEffect) {
  train("small.csv -o P --epochs 6 --weight-column weight");
  train("small.csv -o R --epochs 6 --weight-column weight --refit");
  EXPECT_TRUE(scratch.exists("R/refit/metrics.csv"));
  EXPECT_TRUE(scratch.read("P/model.safetensors") == scratch.read("R/model.safetensors"))
      << "all validation rows have weight 0";
}

TEST_F(RefitCli, BlendReproducesItsTestPredictions) {
  const std::string flags =
      "--epochs 3 --layers 1 --width 16 --ffn 16 --heads 2 --descriptors rdkit --target-columns logS";
  const ShellResult result = run("molgraph-train small.csv -o B --blend --refit --splits-column part " + flags);
  if (result.err.find("built without XGBoost") != std::string::npos) GTEST_SKIP() << "built without XGBoost";
  ASSERT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(run("molgraph-score -m B -i B/test_predictions.csv -o scored.csv").code, 0);
  const auto expected = lines("B/test_predictions.csv"), scored = lines("scored.csv");
  for (std::size_t i = 1; i < expected.size(); ++i)
    EXPECT_NEAR(std::stod(cells_of(expected[i]).at(3)), std::stod(cells_of(scored[i]).at(4)), 1e-4) << scored[i];
  const std::string info = run("molgraph-info B").out;
  EXPECT_NE(info.find("; retrained with the validation set; blended with trees"), std::string::npos) << info;
}

TEST_F(RefitCli, ResumesBetweenTheTwoTrainings) {
  train("small.csv -o R --epochs 3 --refit --ensemble-size 2");
  for (const char* model : {"model_0", "model_1"}) EXPECT_TRUE(scratch.exists(std::string("R/") + model + "/refit"));
  const std::string model = scratch.read("R/model_1/model.safetensors"),
                    predictions = scratch.read("R/test_predictions.csv");
  // The state after a kill between the two trainings of the second member: it has no model file yet.
  std::filesystem::remove_all(scratch.path("R/model_1/refit"));
  for (const char* file : {"R/model_1/model.safetensors", "R/test_predictions.csv", "R/run.json"})
    std::filesystem::remove(scratch.path(file));
  train("small.csv -o R --epochs 3 --refit --ensemble-size 2 --resume");
  EXPECT_TRUE(scratch.read("R/model_1/model.safetensors") == model);
  EXPECT_EQ(scratch.read("R/test_predictions.csv"), predictions);
}

TEST_F(RefitCli, NeedsAValidationSet) {
  const ShellResult result =
      run("molgraph-train known.csv -o N --refit --splits-column part --target-columns logS" + kTiny);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--refit would do nothing: there is no validation set"), std::string::npos) << result.err;
  EXPECT_FALSE(scratch.exists("N"));
}

}  // namespace
}  // namespace molgraph::test
