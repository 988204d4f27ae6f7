// molgraph-pretrain on a corpus, and training that starts from the pre-trained weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTiny = " --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 ";
const std::string kShort = kTiny + "-b 32 --molecules-seen 1600 ";  // 50 steps

class PretrainCli : public testing::Test {
 protected:
  /// 300 molecules in four files, two more molecules in c.csv, and one invalid row in b.csv. No column is a target.
  void SetUp() override {
    const std::vector<std::string> heads{"C",        "CC",       "CCC", "CC(C)",    "c1ccccc1",
                                         "C1CCCCC1", "n1ccccc1", "ClC", "FC(F)(F)", "OC"},
        middles{"", "C", "CC", "C(=O)", "C(=O)N", "S(=O)(=O)"}, tails{"O", "N", "Cl", "C#N", "C(=O)O"};
    std::vector<std::string> all;
    for (const auto& head : heads)
      for (const auto& middle : middles)
        for (const auto& tail : tails) all.push_back(head + middle + tail);
    ASSERT_EQ(all.size(), 300u);
    const auto lines = [&](std::size_t from, std::size_t to, const std::string& more) {
      std::string text;
      for (std::size_t i = from; i < to; ++i) text += all[i] + more + "\n";
      return text;
    };
    scratch.write("a.smi", lines(0, 150, " x"));
    scratch.write("b.csv", "smiles,y\nC1CC,oh\n" + lines(150, 200, ",1.5"));
    scratch.write("c.csv", "name,smiles\n,O\n" + lines(200, 201, "").insert(0, "n,") + "m,CCO\n");
    scratch.write("d.smi", lines(201, 300, ""));
    scratch.write("t.csv", "smiles,y\n" + lines(0, 40, ",1").replace(0, 0, "CCCCO,3\nCCCCCO,4\n"));
  }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult pretrain(const std::string& arguments) {
    ShellResult result = run("molgraph-pretrain " + arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  void expect_error(const std::string& arguments, const std::string& message, int code = 2) {
    const ShellResult result = run("molgraph-pretrain " + arguments + kTiny + "-o refused");
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << arguments;
    EXPECT_FALSE(scratch.exists("refused")) << arguments;
  }
  Scratch scratch;
};

const std::string kCorpus = "a.smi b.csv c.csv d.smi ";

TEST_F(PretrainCli, LearnsTheDescriptorsOfAllTables) {
  const ShellResult done = pretrain(kCorpus + "-o P -b 32 --molecules-seen 16000" + kTiny);
  EXPECT_THAT(done.err, HasSubstr("302 molecules (1 rejected), split random: 271 train, 31 valid, 0 test"));
  EXPECT_THAT(done.err, HasSubstr("descriptors per molecule, standardised"));
  EXPECT_THAT(done.err, HasSubstr("1 of 303 rows were rejected"));
  EXPECT_EQ(lines_of(scratch.read("P/rejected.csv")).at(1).substr(0, 20), "150,invalid_smiles,r");
  EXPECT_FALSE(scratch.exists("P/valid_predictions.csv"));
  const auto metrics = lines_of(scratch.read("P/metrics.csv"));
  EXPECT_EQ(metrics[0], "epoch,step,lr,train_loss,valid_loss");

  const auto record = nlohmann::json::parse(scratch.read("P/run.json"));
  EXPECT_EQ(record.at("target_descriptors"), "rdkit");
  EXPECT_EQ(record.at("data").at("molecules"), 302);
  EXPECT_EQ(record.at("data").at("sha256").get<std::string>().size(), 4u * 64 + 3 * 2) << "one checksum per file";
  const auto results = lines_of(scratch.read("P/results.csv"));
  ASSERT_EQ(results.size(), 3u) << "only the validation set";
  ASSERT_THAT(results[1], testing::StartsWith("valid,31,loss,"));
  EXPECT_LT(std::stod(cells_of(results[1]).at(3)), 0.5 * record.at("baseline").at("valid").get<double>());

  const ShellResult info = run("molgraph-info P");
  EXPECT_THAT(info.out, HasSubstr("pre-trained: the descriptors (rdkit) of a.smi, b.csv, c.csv ... and 1 more"));
  const auto card = nlohmann::json::parse(run("molgraph-info P --json").out);
  EXPECT_EQ(card.at("target_descriptors"), "rdkit");

  ASSERT_EQ(run("molgraph-score -m P -i a.smi -o scored.csv").code, 0);
  const auto scored = lines_of(scratch.read("scored.csv"));
  const auto names = cells_of(scored[0]), lightest = cells_of(scored[1]), heaviest = cells_of(scored[150]);
  const auto at = std::find(names.begin(), names.end(), "MolWt_pred") - names.begin();
  ASSERT_LT(at, static_cast<std::ptrdiff_t>(names.size())) << scored[0];
  // Molecular weights: CO 32.04, c1ccccc1S(=O)(=O)C(=O)O 186.19.
  EXPECT_NEAR(std::stod(lightest[static_cast<std::size_t>(at)]), 32.04, 25);
  EXPECT_NEAR(std::stod(heaviest[static_cast<std::size_t>(at)]), 186.19, 25);
}

TEST_F(PretrainCli, TrainingStartsFromTheWeights) {
  pretrain(kCorpus + "-o P" + kShort);
  for (const std::string more : {"", " --descriptors rdkit"}) {
    const ShellResult plain = run("molgraph-train t.csv --from P -o T --epochs 1 --no-baselines --threads 1" + more);
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_THAT(plain.err, HasSubstr("Weights from P/model.safetensors, with a new head for these targets and inputs"));
    EXPECT_EQ(run("molgraph-score -m T -i t.csv -o s.csv && molgraph-embed -m P -i t.csv -o e.csv && rm -r T").code, 0);
  }
  EXPECT_THAT(pretrain("d.smi --from P -o P2 -b 32 --molecules-seen 320").err, HasSubstr("Weights from P/model"))
      << "pre-training can also start from them";
}

TEST_F(PretrainCli, ResumesBitForBit) {
  const std::string call = "molgraph-pretrain " + kCorpus + kTiny + "-b 8 --molecules-seen 12000 ";
  ASSERT_EQ(run(call + "-o whole").code, 0);
  const ShellResult stopped =
      run(call +
          "-o stopped & pid=$!; for i in $(seq 60000); do grep -qs '^3,' stopped/metrics.csv && break; "
          "sleep 0.005; done; kill -TERM $pid; wait $pid");
  ASSERT_EQ(stopped.code, 143) << "the run ended before the signal: " << stopped.err;
  ASSERT_LT(lines_of(scratch.read("stopped/metrics.csv")).size(), lines_of(scratch.read("whole/metrics.csv")).size());
  EXPECT_THAT(run("molgraph-pretrain --resume -o stopped --molecules-seen 16000").err, HasSubstr("--resume: --"));
  EXPECT_EQ(pretrain("--resume -o stopped --molecules-seen 12000").code, 0);
  for (const char* file : {"model.safetensors", "metrics.csv", "config.toml", "checkpoints/last.safetensors"})
    EXPECT_TRUE(scratch.read(std::string("stopped/") + file) == scratch.read(std::string("whole/") + file)) << file;
}

TEST_F(PretrainCli, ConfigReproducesTheRunAndStoresMatchTables) {
  pretrain("a.smi -o P" + kShort);
  const std::string model = scratch.read("P/model.safetensors");
  ASSERT_EQ(run("molgraph-train --config P/config.toml --threads 1 -o Q").code, 0);
  EXPECT_TRUE(scratch.read("Q/model.safetensors") == model);
  ASSERT_EQ(run("molgraph-featurize a.smi -o with.h5 --descriptors rdkit && molgraph-featurize a.smi -o without.h5 "
                "--descriptors none")
                .code,
            0);
  pretrain("with.h5 -o S" + kShort);
  EXPECT_TRUE(scratch.read("S/model.safetensors") == model);
  expect_error("without.h5", "descriptors");
}

TEST_F(PretrainCli, DuplicatesAreReported) {
  scratch.write("twice.smi", "CCCO first\n" + scratch.read("d.smi") + "OCCC again\n");
  for (const char* rule : {"keep", "drop"}) {
    const std::string run_folder = std::string("P_") + rule;
    EXPECT_THAT(pretrain("twice.smi -o " + run_folder + " --duplicates " + rule + kShort).err,
                Not(HasSubstr("The report could not be created")));
    EXPECT_TRUE(scratch.exists(run_folder + "/report.html"));
    EXPECT_EQ(run("molgraph-info " + run_folder).code, 0);
  }
}

TEST_F(PretrainCli, TheUserGivesTheSetsInAFileOrAColumn) {
  scratch.write("s.json", R"({"train": "0-129", "val": "130-149"})");
  std::string table = "smiles,part\n";
  const auto rows = lines_of(scratch.read("a.smi"));
  for (std::size_t i = 0; i < rows.size(); ++i)
    table += rows[i].substr(0, rows[i].find(' ')) + (i < 130 ? ",train\n" : ",val\n");
  scratch.write("part.csv", table);
  ASSERT_EQ(
      run("(head -n 101 part.csv; tail -n 20 part.csv) > first.csv; (head -n 1 part.csv; sed -n 102,131p part.csv) "
          "> second.csv")
          .code,
      0);
  for (const char* arguments :
       {"a.smi --splits-file s.json", "part.csv --splits-column part",
        "part.csv --split-type predefined --splits-column part", "first.csv second.csv --splits-column part"}) {
    EXPECT_THAT(pretrain(std::string(arguments) + " -o P" + kShort).err, HasSubstr("130 train, 20 valid, 0 test"));
    ASSERT_EQ(run("molgraph-train --config P/config.toml --threads 1 -o Q && rm -r P Q").code, 0) << arguments;
  }
  pretrain("a.smi -o P" + kShort);  // its config.toml has the split sizes in use
  EXPECT_THAT(pretrain("--config P/config.toml --splits-file s.json -o Q --threads 1").err, HasSubstr("130 train, 20"));
  expect_error("a.smi --splits-file s.json --split-sizes 0.9 0.1 0", "--split-sizes");
  expect_error("part.csv --splits-column part --split-type random", "--split-type");
}

TEST_F(PretrainCli, InvalidOptionsAreErrors) {
  expect_error("", "no corpus is given");
  expect_error("zinc", "a corpus must be tables or a store");
  expect_error("absent.smi", "absent.smi", 4);
  expect_error("a.smi --molecules-seen 100 --steps 3", "--molecules-seen");
  expect_error("a.smi --molecules-seen 100 -b 0", "--batch-size");
  expect_error("b.csv --target-columns absent", "absent", 3);
  expect_error("a.smi --metric roc-auc", "roc-auc");
  expect_error("b.csv --strict", "C1CC", 3);
  ASSERT_EQ(run("molgraph-train t.csv -o T --from none --epochs 1 --no-baselines" + kTiny).code, 0);
  expect_error("t.csv --config T/config.toml", "not of a pre-training");
  ASSERT_EQ(run("molgraph-featurize a.smi -o a.h5 --descriptors rdkit").code, 0);
  expect_error("a.h5 b.csv", "a store must be the only input");
  scratch.write("same.smi", "CCO\nCCO\nCCO\nCCO\n");
  expect_error("same.smi", "nothing to learn", 3);
  const std::string help = run("molgraph-pretrain --help").out;
  EXPECT_THAT(help, HasSubstr("--molecules-seen"));
  EXPECT_THAT(help, HasSubstr("tables of the corpus"));
  EXPECT_THAT(help, Not(HasSubstr("--blend")));
  EXPECT_THAT(run("molgraph-train --help").out, Not(HasSubstr("--molecules-seen")));
}

}  // namespace
}  // namespace molgraph::test
