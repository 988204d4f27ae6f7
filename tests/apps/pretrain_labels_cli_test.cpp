// Pre-training on measured labels in addition to descriptors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string kTiny = " --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 ";
const std::string kShort = kTiny + "-b 32 --molecules-seen 1600 ";  // 50 steps

class PretrainLabelsCli : public testing::Test {
 protected:
  /// 300 molecules in three files. plain.smi has only SMILES. first.csv has the number of carbon atoms, with missing
  /// labels, and whether the molecule contains chlorine. second.csv has the number of carbon atoms, in a column with
  /// other capitalisation, and whether the molecule is an acid.
  void SetUp() override {
    const std::vector<std::string> heads{"C",        "CC",       "CCC", "CC(C)",    "c1ccccc1",
                                         "C1CCCCC1", "n1ccccc1", "ClC", "FC(F)(F)", "OC"},
        middles{"", "C", "CC", "C(=O)", "C(=O)N", "S(=O)(=O)"}, tails{"O", "N", "Cl", "C#N", "C(=O)O"};
    std::string plain, first = "smiles,carbons,chlorine,remark\n", second = "Carbons,smiles,acid\n";
    int row = 0;
    for (const auto& head : heads)
      for (const auto& middle : middles)
        for (const auto& tail : tails) {
          const std::string smiles = head + middle + tail;
          const auto carbons =
              std::to_string(std::ranges::count_if(smiles, [](char c) { return c == 'C' || c == 'c'; }));
          const bool chlorine = smiles.find("Cl") != std::string::npos, acid = tail == "C(=O)O";
          if (row % 3 == 0) plain += smiles + "\n";
          if (row % 3 == 1)
            first += smiles + "," + (row % 2 ? carbons + ".5" : "") + "," + (chlorine ? "yes" : "no") + ",made up\n";
          if (row % 3 == 2) second += carbons + ".5," + smiles + "," + (acid ? "1" : "0") + "\n";
          ++row;
        }
    scratch.write("plain.smi", plain);
    scratch.write("first.csv", first);
    scratch.write("second.csv", second);
    scratch.write("t.csv", "smiles,y\nCCCCO,1\nCCCCCO,2\nCCN,3\nCCCN,4\nCCCCN,5\nCO,2\nCCO,1\nCCCO,5\nCCF,1\nCF,3\n");
  }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult pretrain(const std::string& arguments) {
    ShellResult result = run("molgraph-pretrain " + arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  void expect_error(const std::string& call, const std::string& message, int code = 2) {
    const ShellResult result = run(call + kTiny + "-o refused");
    EXPECT_EQ(result.code, code) << call << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << call;
    EXPECT_FALSE(scratch.exists("refused")) << call;
  }
  Scratch scratch;
};

const std::string kCorpus = "plain.smi first.csv second.csv --target-columns all ";

TEST_F(PretrainLabelsCli, LearnsTheColumnsOfAllTables) {
  const ShellResult done =
      pretrain(kCorpus + "-o P -b 32 --molecules-seen 24000 --split-sizes 0.7 0.3 0 --label-weight 20" + kTiny);
  EXPECT_THAT(done.err, HasSubstr("300 molecules (0 rejected), split random: 210 train, 90 valid"));
  EXPECT_THAT(done.err, HasSubstr("1 column of numbers and 2 of classes, 350 labels of 200 molecules"));
  EXPECT_THAT(done.err, HasSubstr("all descriptors of a molecule together 1, a measured label "));
  const auto record = nlohmann::json::parse(scratch.read("P/run.json"));
  EXPECT_EQ(record.at("target_descriptors"), "rdkit");
  const auto& labels = record.at("measured_labels");
  EXPECT_EQ(labels.at("columns"), 3);
  EXPECT_EQ(labels.at("labels"), 350);
  EXPECT_EQ(labels.at("molecules"), 200);
  EXPECT_GT(labels.at("valid").at("r2-descriptors").at("targets"), 50);
  EXPECT_EQ(labels.at("valid").at("r2-numbers").at("targets"), 1);
  EXPECT_GT(labels.at("valid").at("r2-numbers").at("mean"), 0.5);
  EXPECT_GT(labels.at("valid").at("roc-auc-classes").at("mean"), 0.9);
  const auto results = lines_of(scratch.read("P/results.csv"));
  ASSERT_EQ(results.size(), 5u);
  EXPECT_THAT(results[1], testing::StartsWith("valid,90,loss,"));
  EXPECT_THAT(results[3], testing::StartsWith("valid,90,r2-numbers,0."));
  EXPECT_LT(std::stod(cells_of(results[1]).at(3)), 0.5 * record.at("baseline").at("valid").get<double>());

  const std::string info = run("molgraph-info P").out;
  EXPECT_THAT(info, HasSubstr("pre-trained: the descriptors (rdkit) of all molecules and 350 measured labels (3 "
                              "columns, 200 molecules) of plain.smi, first.csv, second.csv: 300 molecules"));
  EXPECT_THAT(info, HasSubstr("r2-numbers 0."));

  ASSERT_EQ(run("molgraph-score -m P -i second.csv -o s.csv").code, 0);
  const auto scored = lines_of(scratch.read("s.csv"));
  const auto names = cells_of(scored[0]);
  for (const char* name : {"carbons_pred", "chlorine_pred", "acid_pred", "MolWt_pred"})
    EXPECT_THAT(names, Contains(name));
  ASSERT_EQ(run("molgraph-embed -m P -i t.csv -o e.csv").code, 0);
  EXPECT_EQ(lines_of(scratch.read("e.csv")).size(), 11u);
  const ShellResult start = run("molgraph-train t.csv --from P -o T --epochs 1 --no-baselines --threads 1");
  EXPECT_EQ(start.code, 0) << start.err;
  EXPECT_THAT(start.err, HasSubstr("with a new head for these targets"));
  EXPECT_THAT(pretrain("first.csv --target-columns chlorine --from P -o P2 -b 32 --molecules-seen 320").err,
              HasSubstr("with a new head for these targets"));
}

TEST_F(PretrainLabelsCli, ResumesBitForBit) {
  const std::string call =
      "molgraph-pretrain " + kCorpus + kTiny + "--table-weights 1 1 0.5 -b 8 --molecules-seen 12000 ";
  ASSERT_EQ(run(call + "-o whole").code, 0);
  const ShellResult stopped =
      run(call +
          "-o stopped & pid=$!; for i in $(seq 60000); do grep -qs '^3,' stopped/metrics.csv && break; "
          "sleep 0.005; done; kill -TERM $pid; wait $pid");
  ASSERT_EQ(stopped.code, 143) << "the run ended before the signal: " << stopped.err;
  ASSERT_LT(lines_of(scratch.read("stopped/metrics.csv")).size(), lines_of(scratch.read("whole/metrics.csv")).size());
  EXPECT_THAT(run("molgraph-pretrain --resume -o stopped --label-weight 2").err, HasSubstr("--resume: --label-weight"));
  EXPECT_EQ(pretrain("--resume -o stopped").code, 0);
  for (const char* file :
       {"model.safetensors", "metrics.csv", "results.csv", "config.toml", "checkpoints/last.safetensors"})
    EXPECT_TRUE(scratch.read(std::string("stopped/") + file) == scratch.read(std::string("whole/") + file)) << file;
  ASSERT_EQ(run("molgraph-train --config whole/config.toml --threads 1 -o again").code, 0);
  EXPECT_TRUE(scratch.read("again/model.safetensors") == scratch.read("whole/model.safetensors"));
}

TEST_F(PretrainLabelsCli, WeightsChangeTheTraining) {
  std::vector<std::string> models;
  for (const char* options :
       {"", "--label-weight 3", "--label-balance 1", "--table-weights 1 1 0.1", "--label-weight 0"}) {
    pretrain(kCorpus + options + " -o P" + kShort);
    EXPECT_THAT(models, Not(Contains(scratch.read("P/model.safetensors")))) << options;
    models.push_back(scratch.read("P/model.safetensors"));
    run("rm -r P");
  }
}

TEST_F(PretrainLabelsCli, EngineMatchesTheReferenceBackend) {
  const std::string options = kCorpus + "-b 16 --steps 5 -o ";
  pretrain(options + "E" + kTiny);
  pretrain(options + "R --backend reference" + kTiny);
  const auto engine = lines_of(scratch.read("E/metrics.csv")), reference = lines_of(scratch.read("R/metrics.csv"));
  ASSERT_EQ(engine.size(), reference.size());
  for (std::size_t line = 1; line < engine.size(); ++line)
    for (std::size_t cell = 3; cell < 5; ++cell)
      EXPECT_NEAR(std::stod(cells_of(engine[line]).at(cell)), std::stod(cells_of(reference[line]).at(cell)), 1e-3);
}

TEST_F(PretrainLabelsCli, InvalidOptionsAreErrors) {
  const std::string train = "molgraph-train t.csv ", labels = "molgraph-pretrain " + kCorpus;
  for (const char* option : {"--label-weight 2", "--label-balance 0", "--table-weights 2"}) {
    expect_error(train + option,
                 "--label-weight, --label-balance and --table-weights are for the measured labels of a corpus");
    expect_error("molgraph-pretrain plain.smi " + std::string(option), "molgraph-pretrain with --target-columns");
  }
  expect_error(labels + "--table-weights 1 2", "--table-weights: 2 weights, but the corpus has 3 tables");
  expect_error(labels + "--table-weights 1 0 1", "--table-weights");
  expect_error(labels + "--label-balance 1.5", "--label-balance");
  expect_error(labels + "--label-weight -1", "--label-weight");
  expect_error(labels + "--duplicates mean", "--duplicates");
  expect_error(labels + "-t regression", "--task-type");
  expect_error(labels + "--censored drop", "--censored");
  expect_error("molgraph-pretrain plain.smi --censored drop", "--censored");
  expect_error("molgraph-pretrain plain.smi first.csv --target-columns absent", "absent", 3);
  scratch.write("bad.csv", "smiles,acid\nCC,1\nCCC,perhaps\n");
  const ShellResult bad = run("molgraph-pretrain second.csv bad.csv --target-columns acid" + kTiny + "-o refused");
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("bad.csv"), HasSubstr("row 2"), HasSubstr("perhaps")));
  const std::string help = run("molgraph-pretrain --help").out;
  for (const char* option : {"--target-columns", "--label-weight", "--label-balance", "--table-weights", "--censored"})
    EXPECT_THAT(help, HasSubstr(option));
  EXPECT_THAT(run("molgraph-train --help").out, Not(HasSubstr("--label-weight")));
}

}  // namespace
}  // namespace molgraph::test
