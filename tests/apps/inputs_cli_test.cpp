// --descriptor-columns: measured numbers as molecule-level inputs, from the columns of a table to the scores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "apps/scoring/model_file.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

using test::cells_of;
using test::lines_of;
using test::Scratch;
using test::ShellResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTiny = " --layers 1 --width 8 --ffn 8 --heads 2 --threads 1 --no-blend --no-baselines ";

/// Chains whose label depends only on the measured number. Every seventh number is missing.
std::string measured_table() {
  std::string text = "smiles,logD,y\n";
  for (int r = 0; r < 120; ++r) {
    const double number = std::sin(2.3 * r);
    text += std::string(static_cast<std::size_t>(r % 9 + 1), 'C') + (r % 2 ? "N" : "O") + "," +
            (r % 7 == 6 ? "" : std::to_string(number)) + "," + std::to_string(3 * number + 5) + "\n";
  }
  return text;
}

class InputsCli : public ::testing::Test {
 protected:
  ShellResult run(const std::string& command) const { return scratch.run(test::bin_dir(), command); }
  /// Trains run R with the input logD. `more`: other options, by default without descriptors.
  void train(const std::string& more = " --descriptors none") {
    scratch.write("measured.csv", measured_table());
    const ShellResult trained = run("molgraph-train measured.csv --descriptor-columns logD -o R --epochs 30 --lr 5e-3" +
                                    std::string(kTiny) + more);
    ASSERT_EQ(trained.code, 0) << trained.err;
    log = trained.err;
  }
  /// The cells of a column.
  std::vector<std::string> column(const std::string& file, const std::string& name) const {
    const std::vector<std::string> lines = lines_of(scratch.read(file));
    const std::vector<std::string> header = cells_of(lines.at(0));
    const auto index = static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
    std::vector<std::string> cells;
    for (std::size_t k = 1; k < lines.size(); ++k) cells.push_back(cells_of(lines[k]).at(index));
    return cells;
  }

  Scratch scratch;
  std::string log;
};

TEST_F(InputsCli, ModelUsesTheInputColumnAndScoringNeedsIt) {
  train();
  EXPECT_THAT(log, HasSubstr("Targets (regression): y\n")) << "the input column is not a target";
  ASSERT_EQ(run("molgraph-score -m R -i measured.csv -o s.csv").code, 0);
  const std::vector<std::string> expected = column("s.csv", "y"), predicted = column("s.csv", "y_pred");
  double error = 0, count = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (k % 7 == 6) continue;
    error += std::abs(std::stod(predicted[k]) - std::stod(expected[k]));
    ++count;
  }
  EXPECT_LT(error / count, 0.6) << "the MAE of the mean predictor is about 1.9, and the graphs contain no information";

  scratch.write("without.csv", "smiles,y\nCCO,1\n");
  const ShellResult without = run("molgraph-score -m R -i without.csv -o t.csv");
  EXPECT_EQ(without.code, 3);
  EXPECT_THAT(without.err, AllOf(HasSubstr("without.csv"), HasSubstr("logD"), HasSubstr("smiles, y")));
  EXPECT_FALSE(scratch.exists("t.csv"));
}

TEST_F(InputsCli, PredictionsDependOnTheInputValue) {
  train();
  scratch.write("rows.csv", "logD,smiles\n-0.9,CCO\n0.9,CCO\n,CCO\nhigh,CCO\n-0.9,CCO\n0.9,C1CC\n");
  const ShellResult scored = run("molgraph-score -m R -i rows.csv -o s.csv");
  ASSERT_EQ(scored.code, 0) << scored.err;
  const std::vector<std::string> value = column("s.csv", "y_pred"), status = column("s.csv", "status");
  EXPECT_LT(std::stod(value[0]) + 2, std::stod(value[1]));
  EXPECT_EQ(value[0], value[4]);
  EXPECT_NE(value[2], "") << "a learned value replaces a missing input";
  EXPECT_NE(value[2], value[0]);
  EXPECT_EQ(value[3], "");
  EXPECT_EQ(status[3], "invalid_input");
  EXPECT_THAT(column("s.csv", "reason")[3], AllOf(HasSubstr("logD"), HasSubstr("high")));
  EXPECT_EQ(status[5], "invalid_smiles") << "the error of the molecule is reported first";
  // The prediction does not depend on the other rows.
  scratch.write("one.csv", "smiles,logD\nCCO,0.9\n");
  ASSERT_EQ(run("molgraph-score -m R -i one.csv -o o.csv").code, 0);
  EXPECT_EQ(column("o.csv", "y_pred")[0], value[1]);
  // Embeddings are computed before the head, so they need no input column.
  scratch.write("plain.csv", "smiles\nCCO\n");
  EXPECT_EQ(run("molgraph-embed -m R -i plain.csv -o e.csv").code, 0);
}

TEST_F(InputsCli, RejectsInvalidInputColumns) {
  scratch.write("bad.csv", "smiles,logD,y\nCC,1,1\nCCO,low,2\nCCN,3,3\n");
  const ShellResult text = run("molgraph-train bad.csv --descriptor-columns logD -o B --epochs 1" + std::string(kTiny));
  EXPECT_EQ(text.code, 3);
  EXPECT_THAT(text.err, AllOf(HasSubstr("bad.csv"), HasSubstr("row 2"), HasSubstr("logD"), HasSubstr("low")));
  const ShellResult absent =
      run("molgraph-train bad.csv --descriptor-columns pKa -o B --epochs 1" + std::string(kTiny));
  EXPECT_EQ(absent.code, 3);
  EXPECT_THAT(absent.err, AllOf(HasSubstr("pKa"), HasSubstr("smiles, logD, y")));
  const ShellResult mix =
      run("molgraph-train bad.csv --mix-width 9 --descriptors none --target-columns y -o B --epochs 1" +
          std::string(kTiny));
  EXPECT_EQ(mix.code, 2);
  EXPECT_THAT(mix.err, HasSubstr("would do nothing"));
  const ShellResult both =
      run("molgraph-train bad.csv --descriptor-columns y --target-columns y -o B --epochs 1" + std::string(kTiny));
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("both a target and an input"));
}

TEST_F(InputsCli, BackendsAgreeAndFineTuningKeepsTheInputs) {
  train();
  const ShellResult reference =
      run("molgraph-train measured.csv --descriptor-columns logD --descriptors none -o Q --epochs 30 --lr 5e-3 "
          "--backend reference" +
          std::string(kTiny));
  ASSERT_EQ(reference.code, 0) << reference.err;
  for (const char* folder : {"R", "Q"})
    ASSERT_EQ(run("molgraph-score -m " + std::string(folder) + " -i measured.csv -o " + folder + ".csv").code, 0);
  const std::vector<std::string> a = column("R.csv", "y_pred"), b = column("Q.csv", "y_pred");
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(std::stod(a[k]), std::stod(b[k]), 0.1) << k;

  // Fine-tuning uses the inputs of the starting run. With other inputs, the head is new.
  const ShellResult tuned = run("molgraph-train measured.csv --from R -o S --epochs 1 --lr 1e-6 --threads 1");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, Not(HasSubstr("a new head")));
  const ShellResult fresh = run("molgraph-train measured.csv --from R --descriptors rdkit -o T --epochs 1 --threads 1");
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_THAT(fresh.err, HasSubstr("a new head"));
}

/// The center of the scaling of a run's first input.
double center_of(const std::string& folder) {
  const std::string file = folder + "/model.safetensors";
  return read_model_config(read_model_file(file), file).model.input_scaling->center.at(0);
}

TEST_F(InputsCli, FoldsScaleInputsByTheirTrainingSetUnlessHeadIsReused) {
  train();
  const std::string folds = "molgraph-train measured.csv --folds 2 --epochs 1 ";
  ASSERT_EQ(run(folds + "--descriptor-columns logD --descriptors none -o F" + kTiny).code, 0);
  const std::vector<std::string> numbers = column("measured.csv", "logD");
  for (const char* model : {"F/model_0", "F/model_1"}) {
    double sum = 0, count = 0;
    const std::vector<std::string> rows = column(std::string(model) + "/splits.csv", "row"),
                                   sets = column(std::string(model) + "/splits.csv", "split");
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string& number = numbers.at(std::stoul(rows[k]));
      if (sets[k] != "train" || number.empty()) continue;
      sum += std::stod(number);
      ++count;
    }
    EXPECT_NEAR(center_of(scratch.path(model)), sum / count, 1e-6) << model;
  }
  EXPECT_NE(center_of(scratch.path("F/model_0")), center_of(scratch.path("F/model_1")));
  ASSERT_EQ(run(folds + "--from R -o G --threads 1").code, 0);
  for (const char* model : {"G/model_0", "G/model_1"})
    EXPECT_EQ(center_of(scratch.path(model)), center_of(scratch.path("R"))) << "the head was trained with this scaling";
}

TEST_F(InputsCli, ColumnNamesIgnoreCaseAndSpaces) {
  scratch.write("spaced.csv", "smiles, logD ,y\nCCO,1,1\nCCN,2,2\nCCC,3,3\nCCCl,4,4\nCCF,5,5\nCCS,6,6\n");
  const ShellResult trained = run(
      "molgraph-train spaced.csv --descriptor-columns LOGd --target-columns y -o N --epochs 1" + std::string(kTiny));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(run("molgraph-score -m N -i spaced.csv -o s.csv").code, 0);
  scratch.write("plain.csv", "logD,smiles\n1,CCO\n");
  EXPECT_EQ(run("molgraph-score -m N -i plain.csv -o p.csv").code, 0);
  for (const char* bad : {"--descriptor-columns logD logd", "--descriptor-columns y --weight-column y"})
    EXPECT_EQ(run("molgraph-train spaced.csv --target-columns y -o B --epochs 1 " + std::string(bad) + kTiny).code, 2)
        << bad;
}

TEST_F(InputsCli, StoresKeepInputColumnsAndDescriptors) {
  train(" --descriptors rdkit");
  ASSERT_EQ(run("molgraph-featurize measured.csv -o m.h5 --descriptors rdkit --descriptor-columns logD --seed 0").code,
            0);
  const ShellResult stored =
      run("molgraph-train m.h5 -o S --epochs 30 --lr 5e-3 --split-type random --duplicates keep" + std::string(kTiny));
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(scratch.read("S/model.safetensors"), scratch.read("R/model.safetensors"));
  const ShellResult columns_only =
      run("molgraph-train m.h5 --descriptors none -o N --epochs 1 --split-type random" + std::string(kTiny));
  ASSERT_EQ(columns_only.code, 0) << columns_only.err;
  EXPECT_THAT(scratch.read("N/config.toml"),
              AllOf(HasSubstr("descriptors = 'none'"), HasSubstr("descriptor-columns = [ 'logD' ]")));
  const ShellResult other = run("molgraph-train m.h5 --descriptor-columns pKa -o O --epochs 1" + std::string(kTiny));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("pKa"));
}

TEST_F(InputsCli, DescriptorsAreTheDefaultForRegressionTargets) {
  scratch.write("t.csv", "smiles,y,active\nCCO,1.5,yes\nCCN,2,no\nCCC,3,yes\nCCCC,4,no\nCCCO,5,yes\nCCCN,6,no\n");
  const auto uses_descriptors = [&](const std::string& given) {
    std::filesystem::remove_all(scratch.path("D"));
    const ShellResult trained =
        run("molgraph-train " + given + " -o D --epochs 1 --split-type random" + std::string(kTiny));
    EXPECT_EQ(trained.code, 0) << trained.err;
    return scratch.read("D/config.toml").find("descriptors = 'rdkit'") != std::string::npos;
  };
  EXPECT_TRUE(uses_descriptors("t.csv --target-columns y"));
  EXPECT_TRUE(uses_descriptors("t.csv --target-columns y active")) << "regression and binary targets";
  EXPECT_FALSE(uses_descriptors("t.csv --target-columns active"));
  EXPECT_FALSE(uses_descriptors("t.csv --target-columns y --descriptors none"));
  EXPECT_FALSE(uses_descriptors("t.csv --target-columns y --recipe grpe-zinc --steps 1"));
  for (const char* column : {"y", "active"}) {
    const std::string store = std::string(column) + ".h5";
    ASSERT_EQ(run("molgraph-featurize t.csv --target-columns " + std::string(column) + " -o " + store).code, 0);
    EXPECT_EQ(uses_descriptors(store), column == std::string("y")) << "from a store";
  }
}

TEST_F(InputsCli, ScoringComputesTheDescriptorsOfTheModel) {
  train("");
  EXPECT_THAT(scratch.read("R/config.toml"), HasSubstr("descriptors = 'rdkit'"));
  ASSERT_EQ(run("molgraph-score -m R -i measured.csv -o all.csv").code, 0);
  const std::vector<std::string> all = column("all.csv", "y_pred");
  EXPECT_THAT(run("molgraph-info R").out, AllOf(HasSubstr(" descriptors ("), HasSubstr("the columns logD")));
  // The same molecule with another SMILES, scored alone.
  scratch.write("one.csv", "smiles,logD\n  OC ," + column("all.csv", "logD")[0] + "\n");
  ASSERT_EQ(run("molgraph-score -m R -i one.csv -o one_s.csv").code, 0);
  EXPECT_NEAR(std::stod(column("one_s.csv", "y_pred")[0]), std::stod(all[0]), 1e-4);
  const ShellResult folds =
      run("molgraph-train measured.csv --descriptors rdkit --folds 2 -o F --epochs 1" + std::string(kTiny));
  ASSERT_EQ(folds.code, 0) << folds.err;
  EXPECT_EQ(run("molgraph-score -m F -i measured.csv -o f.csv").code, 0);
}

}  // namespace
}  // namespace molgraph
