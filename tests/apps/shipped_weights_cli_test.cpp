// Training runs that start from the shipped weights, and training runs that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "apps/scoring/model_file.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

using test::Scratch;
using test::ShellResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Thirty alcohols and amines. With n carbon atoms, y is n - 0.5.
std::string table() {
  std::string text = "smiles,y,active\n";
  for (int r = 0; r < 30; ++r)
    text += std::string(static_cast<std::size_t>(r / 2 + 1), 'C') + (r % 2 ? "N," : "O,") + std::to_string(r / 2) +
            ".5," + (r % 2 ? "yes" : "no") + "\n";
  return text;
}

class ShippedWeights : public ::testing::Test {
 protected:
  void SetUp() override { scratch.write("t.csv", table()); }
  ShellResult run(const std::string& command) const { return scratch.run(test::bin_dir(), command); }
  /// Trains for one step into the folder T and returns the log.
  std::string train(const std::string& flags) const {
    std::filesystem::remove_all(scratch.path("T"));
    const ShellResult trained = run("molgraph-train " + flags + " -o T --steps 1 --no-baselines --threads 1");
    EXPECT_EQ(trained.code, 0) << trained.err;
    return trained.err;
  }
  std::string config() const { return scratch.read("T/config.toml"); }

  Scratch scratch;
};

constexpr const char* kWeightsFrom = "Weights from ";

TEST_F(ShippedWeights, InitialiseTheDefaultModel) {
  const std::string log = train("t.csv --target-columns active --freeze encoder");
  EXPECT_THAT(config(), AllOf(HasSubstr("from = 'pretrained'"), HasSubstr("layers = 12")));
  EXPECT_THAT(log, AllOf(HasSubstr("with a new head"), HasSubstr("--from none")));
  const std::size_t begin = log.find(kWeightsFrom) + std::string(kWeightsFrom).size();
  const std::string file = log.substr(begin, log.find(", with", begin) - begin);
  const SafetensorsFile shipped = read_model_file(file), own = read_model_file(scratch.path("T/model.safetensors"));
  int equal = 0;
  for (const auto& [name, tensor] : shipped.tensors) {
    if (name.starts_with("head.") || name.starts_with("target_")) continue;
    EXPECT_TRUE(own.tensors.at(name).bytes == tensor.bytes) << name;
    ++equal;
  }
  EXPECT_GT(equal, 100);
  EXPECT_EQ(run("molgraph-score -m T -i t.csv -o s.csv").code, 0);
  EXPECT_THAT(run("molgraph-info T").out, HasSubstr("started from  pretrained: grpe-small.safetensors\n"));
  train("t.csv --target-columns active --from none");
  EXPECT_THAT(run("molgraph-info T").out, Not(HasSubstr("started from")));
}

TEST_F(ShippedWeights, ApplyToStoresParentsAndRegressionTargets) {
  // The store of the regression target contains descriptors, the store of the classes does not.
  for (const std::string target : {"y", "active"})
    ASSERT_EQ(run("molgraph-featurize t.csv --target-columns " + target + " -o " + target + ".h5").code, 0);
  for (const std::string flags :
       {"active.h5 --split-type random", "t.csv --target-columns active --standardize parent",
        "t.csv --target-columns y", "t.csv --target-columns y active", "t.csv --target-columns y --from pretrained",
        "y.h5 --split-type random", "y.h5 --split-type random --from pretrained"}) {
    EXPECT_THAT(train(flags), AllOf(HasSubstr(kWeightsFrom), HasSubstr("results on public tables may be too good")))
        << flags;
    EXPECT_THAT(config(), AllOf(HasSubstr("from = 'pretrained'"), HasSubstr("\ndescriptors = 'none'"))) << flags;
  }
  for (const std::string flags :
       {"t.csv --target-columns active --descriptors rdkit --dropout 0.2",
        "t.csv --target-columns y --descriptors rdkit", "t.csv --target-columns y --mix-width 8",
        "y.h5 --split-type random --descriptors rdkit"}) {
    EXPECT_THAT(train(flags), HasSubstr(kWeightsFrom)) << flags;
    EXPECT_THAT(config(), AllOf(HasSubstr("from = 'pretrained'"), HasSubstr("\ndescriptors = 'rdkit'"))) << flags;
  }
  ASSERT_EQ(run("molgraph-featurize t.csv --target-columns y active --descriptors rdkit -o both.h5 && "
                "molgraph-featurize t.csv --target-columns y --features ogb -o ogb.h5")
                .code,
            0);
  for (const std::string flags : {"y.h5 --split-type random --from none", "ogb.h5 --split-type random",
                                  "both.h5 --split-type random --target-columns active"}) {
    train(flags);
    EXPECT_THAT(config(), HasSubstr("\ndescriptors = 'rdkit'")) << "the descriptors of the store are read: " << flags;
  }
}

TEST_F(ShippedWeights, AreNotUsedIfTheyDoNotFit) {
  ASSERT_EQ(run("molgraph-featurize t.csv --target-columns active --features ogb -o ogb.h5").code, 0);
  for (const std::string flags :
       {"t.csv --target-columns y --from none", "t.csv --target-columns y --quality fast",
        "t.csv --target-columns active --layers 1", "ogb.h5 --split-type random",
        "t.csv --target-columns active --features ogb", "t.csv --target-columns active --encoding shaw",
        "t.csv --target-columns active --model graphormer", "t.csv --target-columns active --urpe",
        "t.csv --target-columns active --recipe grpe-zinc", "demo --limit 40"}) {
    EXPECT_THAT(train(flags), Not(HasSubstr(kWeightsFrom))) << flags;
    EXPECT_THAT(config(), Not(HasSubstr("pretrained"))) << flags;
  }
  const ShellResult frozen = run("molgraph-train t.csv --from none --freeze encoder -o F --steps 1");
  EXPECT_EQ(frozen.code, 2);
  EXPECT_THAT(frozen.err, HasSubstr("--freeze"));
}

TEST_F(ShippedWeights, RunFolderOfTheSameNameIsAmbiguous) {
  const std::string short_run = " --target-columns active --steps 1 --no-baselines --threads 1";
  ASSERT_EQ(run("molgraph-train t.csv --from pretrained -o pretrained" + short_run).code, 0);
  const ShellResult ambiguous = run("molgraph-train t.csv --from pretrained -o U" + short_run);
  EXPECT_EQ(ambiguous.code, 2);
  EXPECT_THAT(ambiguous.err, HasSubstr("./pretrained"));
  const ShellResult own = run("molgraph-train t.csv --from ./pretrained -o U" + short_run);
  EXPECT_EQ(own.code, 0) << own.err;
  EXPECT_THAT(own.err, HasSubstr("Weights from ./pretrained/model.safetensors"));
}

TEST_F(ShippedWeights, ConfigFileReproducesTheRun) {
  const std::string flags = "t.csv --target-columns active --epochs 3 --no-baselines --threads 1";
  ASSERT_EQ(run("molgraph-train " + flags + " -o A").code, 0);
  ASSERT_EQ(run("molgraph-train --config A/config.toml -o B --threads 1").code, 0);
  EXPECT_EQ(scratch.read("A/model.safetensors"), scratch.read("B/model.safetensors"))
      << "trained again from config.toml";
}

}  // namespace
}  // namespace molgraph
