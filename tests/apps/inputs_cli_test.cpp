// Numbers of the whole molecule beside its graph, from a table's columns to scores: --descriptor-columns.
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

/// Chains whose value is the measured number alone; every seventh is not measured.
std::string measured() {
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
  /// A run R that reads logD, and no descriptors unless `more` says so.
  void train(const std::string& more = " --descriptors none") {
    scratch.write("measured.csv", measured());
    const ShellResult trained = run("molgraph-train measured.csv --descriptor-columns logD -o R --epochs 30 --lr 5e-3" +
                                    std::string(kTiny) + more);
    ASSERT_EQ(trained.code, 0) << trained.err;
    log = trained.err;
  }
  /// The column of a scored table.
  std::vector<std::string> column(const std::string& file, const std::string& name) const {
    const std::vector<std::string> lines = lines_of(scratch.read(file));
    const std::vector<std::string> header = cells_of(lines.at(0));
    const auto place = static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
    std::vector<std::string> cells;
    for (std::size_t k = 1; k < lines.size(); ++k) cells.push_back(cells_of(lines[k]).at(place));
    return cells;
  }

  Scratch scratch;
  std::string log;
};

TEST_F(InputsCli, AMeasuredColumnIsLearntFromAndNeededForScoring) {
  train();
  EXPECT_THAT(log, HasSubstr("Targets (regression): y\n")) << "the input is no target";
  ASSERT_EQ(run("molgraph-score -m R -i measured.csv -o s.csv").code, 0);
  const std::vector<std::string> wanted = column("s.csv", "y"), got = column("s.csv", "y_pred");
  double error = 0, count = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (k % 7 == 6) continue;
    error += std::abs(std::stod(got[k]) - std::stod(wanted[k]));
    ++count;
  }
  EXPECT_LT(error / count, 0.6) << "the mean predictor is off by about 1.9, and no graph says anything";

  scratch.write("without.csv", "smiles,y\nCCO,1\n");
  const ShellResult without = run("molgraph-score -m R -i without.csv -o t.csv");
  EXPECT_EQ(without.code, 4);
  EXPECT_THAT(without.err, AllOf(HasSubstr("without.csv"), HasSubstr("logD"), HasSubstr("smiles, y")));
  EXPECT_FALSE(scratch.exists("t.csv"));
}

TEST_F(InputsCli, TheSameMoleculeWithOtherNumbersIsAnotherRow) {
  train();
  scratch.write("rows.csv", "logD,smiles\n-0.9,CCO\n0.9,CCO\n,CCO\nhigh,CCO\n-0.9,CCO\n0.9,C1CC\n");
  const ShellResult scored = run("molgraph-score -m R -i rows.csv -o s.csv");
  ASSERT_EQ(scored.code, 0) << scored.err;
  const std::vector<std::string> value = column("s.csv", "y_pred"), status = column("s.csv", "status");
  EXPECT_LT(std::stod(value[0]) + 2, std::stod(value[1]));
  EXPECT_EQ(value[0], value[4]);
  EXPECT_NE(value[2], "") << "what is not measured has its stand-in";
  EXPECT_NE(value[2], value[0]);
  EXPECT_EQ(value[3], "");
  EXPECT_EQ(status[3], "invalid_input");
  EXPECT_THAT(column("s.csv", "reason")[3], AllOf(HasSubstr("logD"), HasSubstr("high")));
  EXPECT_EQ(status[5], "invalid_smiles") << "what is wrong with the molecule comes first";
  // Whatever else is in the call.
  scratch.write("one.csv", "smiles,logD\nCCO,0.9\n");
  ASSERT_EQ(run("molgraph-score -m R -i one.csv -o o.csv").code, 0);
  EXPECT_EQ(column("o.csv", "y_pred")[0], value[1]);
  // Embeddings stand before the head: no column is needed.
  scratch.write("plain.csv", "smiles\nCCO\n");
  EXPECT_EQ(run("molgraph-embed -m R -i plain.csv -o e.csv").code, 0);
}

TEST_F(InputsCli, BadColumnsOfATrainingTable) {
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

TEST_F(InputsCli, BothBackendsTrainAlikeAndARunCanStartFromAnother) {
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

  // Its inputs are the start's; without them the head is a new one.
  const ShellResult on = run("molgraph-train measured.csv --from R -o S --epochs 1 --lr 1e-6 --threads 1");
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_THAT(on.err, Not(HasSubstr("a new head")));
  const ShellResult fresh = run("molgraph-train measured.csv --from R --descriptors rdkit -o T --epochs 1 --threads 1");
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_THAT(fresh.err, HasSubstr("a new head"));
}

/// How a run reads its first input.
double center_of(const std::string& folder) {
  const std::string file = folder + "/model.safetensors";
  return read_model_config(read_model_file(file), file).model.input_scaling->center.at(0);
}

TEST_F(InputsCli, EachFoldScalesByItsOwnTrainingPartUnlessTheHeadGoesOn) {
  train();
  const std::string folds = "molgraph-train measured.csv --folds 2 --epochs 1 ";
  ASSERT_EQ(run(folds + "--descriptor-columns logD --descriptors none -o F" + kTiny).code, 0);
  const std::vector<std::string> numbers = column("measured.csv", "logD");
  for (const char* model : {"F/model_0", "F/model_1"}) {
    double sum = 0, count = 0;
    const std::vector<std::string> rows = column(std::string(model) + "/splits.csv", "row"),
                                   parts = column(std::string(model) + "/splits.csv", "split");
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string& number = numbers.at(std::stoul(rows[k]));
      if (parts[k] != "train" || number.empty()) continue;
      sum += std::stod(number);
      ++count;
    }
    EXPECT_NEAR(center_of(scratch.path(model)), sum / count, 1e-6) << model;
  }
  EXPECT_NE(center_of(scratch.path("F/model_0")), center_of(scratch.path("F/model_1")));
  ASSERT_EQ(run(folds + "--from R -o G --threads 1").code, 0);
  for (const char* model : {"G/model_0", "G/model_1"})
    EXPECT_EQ(center_of(scratch.path(model)), center_of(scratch.path("R"))) << "its head learnt with that";
}

TEST_F(InputsCli, NamesAreFoundAsUsersWriteThem) {
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

TEST_F(InputsCli, AStoreKeepsThem) {
  train(" --descriptors rdkit");
  ASSERT_EQ(run("molgraph-featurize measured.csv -o m.h5 --descriptors rdkit --descriptor-columns logD --seed 0").code,
            0);
  const ShellResult stored =
      run("molgraph-train m.h5 -o S --epochs 30 --lr 5e-3 --split-type random --duplicates keep" + std::string(kTiny));
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(scratch.read("S/model.safetensors"), scratch.read("R/model.safetensors"));
  const ShellResult some =
      run("molgraph-train m.h5 --descriptors none -o N --epochs 1 --split-type random" + std::string(kTiny));
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_THAT(scratch.read("N/config.toml"),
              AllOf(HasSubstr("descriptors = 'none'"), HasSubstr("descriptor-columns = [ 'logD' ]")));
  const ShellResult other = run("molgraph-train m.h5 --descriptor-columns pKa -o O --epochs 1" + std::string(kTiny));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("pKa"));
}

TEST_F(InputsCli, DescriptorsAreTheDefaultForNumbersAlone) {
  scratch.write("t.csv", "smiles,y,active\nCCO,1.5,yes\nCCN,2,no\nCCC,3,yes\nCCCC,4,no\nCCCO,5,yes\nCCCN,6,no\n");
  const auto descriptors = [&](const std::string& given) {
    std::filesystem::remove_all(scratch.path("D"));
    const ShellResult trained =
        run("molgraph-train " + given + " -o D --epochs 1 --split-type random" + std::string(kTiny));
    EXPECT_EQ(trained.code, 0) << trained.err;
    return scratch.read("D/config.toml").find("descriptors = 'rdkit'") != std::string::npos;
  };
  EXPECT_TRUE(descriptors("t.csv --target-columns y"));
  EXPECT_TRUE(descriptors("t.csv --target-columns y active")) << "numbers and classes";
  EXPECT_FALSE(descriptors("t.csv --target-columns active"));
  EXPECT_FALSE(descriptors("t.csv --target-columns y --descriptors none"));
  EXPECT_FALSE(descriptors("t.csv --target-columns y --recipe grpe-zinc --steps 1"));
  for (const char* column : {"y", "active"}) {
    const std::string store = std::string(column) + ".h5";
    ASSERT_EQ(run("molgraph-featurize t.csv --target-columns " + std::string(column) + " -o " + store).code, 0);
    EXPECT_EQ(descriptors(store), column == std::string("y")) << "by way of a store";
  }
}

TEST_F(InputsCli, DescriptorsAreComputedAndKeptWithTheModel) {
  train("");
  EXPECT_THAT(scratch.read("R/config.toml"), HasSubstr("descriptors = 'rdkit'"));
  ASSERT_EQ(run("molgraph-score -m R -i measured.csv -o all.csv").code, 0);
  const std::vector<std::string> all = column("all.csv", "y_pred");
  EXPECT_THAT(run("molgraph-info R").out, AllOf(HasSubstr(" descriptors ("), HasSubstr("the columns logD")));
  // As written otherwise, alone.
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
