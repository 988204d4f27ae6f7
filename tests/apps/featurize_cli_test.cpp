// molgraph-featurize on the command line. The tests read its output back with molgraph-info.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

class FeaturizeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string table = "name,smiles,logS,batch,part\n";
    for (int i = 1; i <= 20; ++i) {
      table += "m" + std::to_string(i) + "," + std::string(static_cast<std::size_t>(i), 'C') + "O," +
               std::to_string(i) + ".5,x," +
               (i <= 14   ? "train"
                : i <= 17 ? "val"
                          : "test") +
               "\n";
    }
    scratch.write("in.csv", table + "bad,C(,1,x,train\nnone,,2,x,train\n");
  }

  ShellResult featurize(const std::string& arguments) {
    return scratch.run(bin_dir(), "molgraph-featurize " + arguments);
  }
  nlohmann::json info(const std::string& store) {
    const auto result = scratch.run(bin_dir(), "molgraph-info --json " + store);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  Scratch scratch;
};

TEST_F(FeaturizeTest, ReportsCountsTargetsAndRejectedRows) {
  const auto result = featurize("in.csv -o out.h5 --rejected bad.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("22 rows"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("20 ok, 1 empty, 1 invalid_smiles"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("1 target(s), regression: logS"), std::string::npos) << result.err;
  const auto bad = lines_of(scratch.read("bad.csv"));
  ASSERT_EQ(bad.size(), 3u);
  EXPECT_EQ(bad[0], "row,status,reason,smiles");
  EXPECT_EQ(bad[1].substr(0, 18), "20,invalid_smiles,");
  EXPECT_EQ(bad[1].substr(bad[1].size() - 3), ",C(");
  EXPECT_EQ(bad[2].substr(0, 9), "21,empty,");
  const auto card = info("out.h5");
  EXPECT_EQ(card["kind"], "store");
  EXPECT_EQ(card["molecules"], 20);
  EXPECT_EQ(card["atoms"], 20 * 21 / 2 + 20);
  EXPECT_EQ(card["rejected_by_status"]["empty"], 1);
  EXPECT_EQ(card["targets"][0]["name"], "logS");
  EXPECT_TRUE(card["pairs"].is_number());
}

TEST_F(FeaturizeTest, MalformedRowsAreInNoSetOfTheSplit) {
  scratch.write("part.csv", "smiles,y,split\nCCO,1,train\nCCN,2,train\nCCC,3,val\nCCCC,4,test\nCCCCC,1,5,train\n");
  const auto result = featurize("part.csv -o part.h5 --splits-column split --rejected rejected.csv");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(scratch.read("rejected.csv").find("4 cells, but the table has 3 columns"), std::string::npos);
}

TEST_F(FeaturizeTest, StoresSplitsPairsFeaturesAndTargets) {
  ASSERT_EQ(featurize("-i in.csv -o out.h5 --splits-column part --no-pairs --target-columns logS").code, 0);
  const auto card = info("out.h5");
  EXPECT_EQ(card["pairs"], "not stored");
  ASSERT_EQ(card["splits"].size(), 1u) << card;
  const auto split = card["splits"].begin().value();
  EXPECT_EQ(split["train"], 14);
  EXPECT_EQ(split["valid"], 3);
  EXPECT_EQ(split["test"], 3);
  ASSERT_EQ(
      featurize("in.csv -o random.h5 --split-type random --split-sizes 0.5 0.25 0.25 --seed 3 --features zinc").code,
      0);
  const auto random = info("random.h5");
  EXPECT_EQ(random["splits"]["random"]["train"], 10) << random;
  EXPECT_NE(random["featurizer"]["text"].get<std::string>().find("zinc"), std::string::npos);
  EXPECT_NE(random["featurizer"]["hash"], card["featurizer"]["hash"]);
}

TEST_F(FeaturizeTest, TablesUseMolgraphFeaturesAndNamedSetsTheirOwn) {
  const auto text_of = [&](const std::string& arguments, const std::string& store) {
    EXPECT_EQ(featurize(arguments + " -o " + store).code, 0) << arguments;
    return info(store)["featurizer"]["text"].get<std::string>();
  };
  EXPECT_NE(text_of("in.csv", "own.h5").find("features=molgraph; version=1;"), std::string::npos);
  EXPECT_NE(text_of("in.csv --features ogb", "ogb.h5").find("features=ogb;"), std::string::npos);
  EXPECT_NE(text_of("demo --limit 50", "demo.h5").find("features=ogb;"), std::string::npos);
}

TEST_F(FeaturizeTest, InvalidSmilesCharacterIsNamed) {
  scratch.write("dash.csv",
                "smiles\nCC\nC\xE2\x80\x93"
                "C\n");
  ASSERT_EQ(featurize("dash.csv -o dash.h5 --rejected bad.csv").code, 0);
  EXPECT_NE(scratch.read("bad.csv").find("(U+2013) is not a SMILES symbol (character 2)"), std::string::npos);
}

TEST_F(FeaturizeTest, ReadsStandardInputAndSmiFiles) {
  ASSERT_EQ(featurize("- -o piped.h5 < in.csv").code, 0);
  EXPECT_EQ(info("piped.h5")["molecules"], 20);
  scratch.write("in.smi", "CCO one\nCC two\n");
  ASSERT_EQ(featurize("in.smi -o smi.h5").code, 0);
  EXPECT_EQ(info("smi.h5")["molecules"], 2);
}

TEST_F(FeaturizeTest, ExitCodes) {
  scratch.write("bad.csv", "smiles,y\nC(,1\n");
  scratch.write("censored.csv", "smiles,y\nC,1\nCC,2\nCCC,>high\n");
  const struct {
    std::string arguments;
    int code;
    std::string message;
  } cases[] = {
      {"in.csv", 2, "--output is required"},
      {"in.csv -o out.h5 --splitt-type random", 2, "did you mean --split-type?"},
      {"in.csv -o out.h5 --split-type alphabetic", 2, "alphabetic"},
      {"in.csv -o out.h5 --features daylight", 2, "daylight"},
      {"bad.csv -o out.h5", 3, "bad.csv"},
      {"in.csv -o out.h5 --strict", 3, "in.csv"},
      {"censored.csv -o out.h5", 3, ">high"},
      {"missing.csv -o out.h5", 4, "missing.csv"},
      {"in.csv -o no/such/out.h5", 4, "no/such/out.h5"},
  };
  for (const auto& one : cases) {
    const auto result = featurize(one.arguments);
    EXPECT_EQ(result.code, one.code) << one.arguments << "\n" << result.err;
    EXPECT_NE(result.err.find(one.message), std::string::npos) << one.arguments << "\n" << result.err;
    EXPECT_FALSE(scratch.exists("out.h5")) << one.arguments;
  }
}

}  // namespace
}  // namespace molgraph::test
