// The applicability domain of a run, from training to scoring, and its removal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny =
    " --epochs 1 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-baselines --no-blend --from none ";

/// 80 carbon chains with one of four end groups.
std::string table() {
  std::string text = "smiles,id,y\n";
  const char* ends[] = {"O", "N", "c1ccccc1", "C1CC1"};
  for (int k = 0; k < 80; ++k)
    text += std::string(static_cast<std::size_t>(1 + k / 4), 'C') + ends[k % 4] + ",m" + std::to_string(k) + "," +
            std::to_string(10000 * (k % 7)) + ".123456\n";  // more digits than float32 has
  return text;
}

class DomainCli : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch.write("t.csv", table());
    scratch.write("new.csv", "smiles\nCCCO\nOCCC\nCCBr\nC1CCC2CCCCC2C1\nC(\nCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCO\n");
  }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult train(const std::string& arguments) {
    ShellResult result = run("molgraph-train t.csv " + arguments + kTiny);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  std::vector<std::map<std::string, std::string>> score(const std::string& arguments) {
    const ShellResult result = run("molgraph-score -i new.csv -o - " + arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    const auto lines = lines_of(result.out);
    const auto names = cells_of(lines.at(0));
    std::vector<std::map<std::string, std::string>> rows;
    for (std::size_t k = 1; k < lines.size(); ++k) {
      const auto cells = cells_of(lines[k]);
      rows.emplace_back();
      for (std::size_t c = 0; c < names.size(); ++c) rows.back()[names[c]] = cells.at(c);
    }
    return rows;
  }
  std::set<std::string> smiles_in(const std::string& part) {
    std::set<std::string> smiles;
    for (const std::string& line : lines_of(scratch.read("R/splits.csv")))
      if (const auto cells = cells_of(line); cells.back() == part) smiles.insert(cells[2]);
    return smiles;
  }

  Scratch scratch;
};

TEST_F(DomainCli, ReportsSimilarityAndPercentile) {
  const ShellResult trained = train("-o R");
  EXPECT_THAT(trained.err, HasSubstr("fingerprints and embeddings of its 64 training molecules, for"));
  EXPECT_EQ(scratch.read("R/domain.safetensors").find("CCCO"), std::string::npos);
  auto rows = score("-m R --domain");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_FALSE(rows[0].contains("domain_id"));
  EXPECT_EQ(rows[0]["domain_similarity"], rows[1]["domain_similarity"]);  // the same molecule
  EXPECT_EQ(rows[0]["domain_percentile"], rows[1]["domain_percentile"]);
  EXPECT_EQ(rows[0]["domain_elements_seen"], "yes");
  EXPECT_EQ(rows[2]["domain_elements_seen"], "no");
  EXPECT_EQ(rows[2]["domain_rings_seen"], "yes");
  EXPECT_EQ(rows[3]["domain_elements_seen"], "yes");
  EXPECT_EQ(rows[3]["domain_rings_seen"], "no");
  EXPECT_EQ(rows[4]["status"], "invalid_smiles");
  EXPECT_EQ(rows[4]["domain_similarity"], "");
  EXPECT_GE(std::stod(rows[3]["domain_percentile"]), 50);
}

TEST_F(DomainCli, TrainingMoleculesAreAtPercentileZero) {
  train("-o R");
  scratch.write("new.csv", scratch.read("R/splits.csv"));
  std::map<std::string, int> at_one, total;
  for (auto& row : score("-m R --domain -s smiles")) {
    ++total[row["split"]];
    if (row["split"] == "train") {
      EXPECT_EQ(row["domain_similarity"], "1");
      EXPECT_EQ(row["domain_percentile"], "0");
      EXPECT_EQ(row["domain_elements_seen"] + row["domain_rings_seen"], "yesyes");
    }
    at_one[row["split"]] += row["domain_percentile"] == "0";
  }
  EXPECT_EQ(total["train"], 64);
  EXPECT_LT(at_one["test"], 8);
}

TEST_F(DomainCli, DomainLabelsShowTheNearestMolecule) {
  const ShellResult trained = train("-o R --domain-labels");
  EXPECT_THAT(trained.err, HasSubstr("with ids, SMILES and true values"));
  const auto rows = score("-m R --domain");
  const std::set<std::string> learned = smiles_in("train");
  std::set<std::string> named;
  for (auto row : rows) {
    if (row["status"] != "ok") continue;
    named.insert(row["domain_smiles"]);
    EXPECT_TRUE(learned.contains(row["domain_smiles"])) << row["domain_smiles"];
    const std::string line = row["domain_smiles"] + "," + row["domain_id"] + "," + row["domain_y"];
    EXPECT_THAT(table(), HasSubstr("\n" + line));
  }
  EXPECT_GT(named.size(), 1u);
  const auto json = lines_of(run("molgraph-score -m R -i new.csv -o out.jsonl --domain && cat out.jsonl").out);
  const auto first = nlohmann::json::parse(json.at(0));
  EXPECT_TRUE(first["domain_y"].is_number());
  EXPECT_TRUE(first["domain_similarity"].is_number());
  EXPECT_TRUE(first["domain_smiles"].is_string());
  EXPECT_TRUE(nlohmann::json::parse(json.at(4))["domain_y"].is_null());
}

TEST_F(DomainCli, PredictionsAreBitIdentical) {
  train("-o R");
  auto with = score("-m R --domain"), without = score("-m R");
  for (std::size_t k = 0; k < with.size(); ++k) EXPECT_EQ(with[k]["y_pred"], without[k]["y_pred"]);
  EXPECT_FALSE(without[0].contains("domain_similarity"));
  auto two = score("-m R --domain --threads 2 --batch-size 1");
  for (std::size_t k = 0; k < with.size(); ++k) EXPECT_EQ(with[k], two[k]);
}

TEST_F(DomainCli, NoDomainFlagWritesNoDomain) {
  train("-o R --no-domain");
  EXPECT_FALSE(scratch.exists("R/domain.safetensors"));
  const ShellResult scored = run("molgraph-score -m R -i new.csv -o o.csv --domain");
  EXPECT_EQ(scored.code, 2);
  EXPECT_THAT(scored.err, HasSubstr("has no applicability domain"));
  EXPECT_FALSE(scratch.exists("o.csv"));
  const ShellResult both = run("molgraph-train t.csv -o Q --no-domain --domain-labels" + kTiny);
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--domain-labels would do nothing"));
}

TEST_F(DomainCli, EnsemblesAndFoldsContainTheUnion) {
  train("-o E --ensemble-size 2 --member-splits");
  EXPECT_TRUE(scratch.exists("E/domain.safetensors"));
  EXPECT_FALSE(scratch.exists("E/model_0/domain.safetensors"));
  EXPECT_EQ(score("-m E --domain --individual").size(), 6u);
  train("-o F --folds 4");
  EXPECT_EQ(nlohmann::json::parse(run("molgraph-info F --json").out)["holds"]["domain.safetensors"],
            "fingerprints and embeddings of 80 training molecules");
  EXPECT_FALSE(scratch.exists("F/model_0/domain.safetensors"));
  EXPECT_NE(score("-m F --domain")[0]["domain_similarity"], "");
  EXPECT_EQ(run("molgraph-score -m F/model_0 -i new.csv -o - --domain").code, 2);
  const ShellResult several = run("molgraph-score -m E F -i new.csv -o - --domain");
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, HasSubstr("several runs are given"));
}

TEST_F(DomainCli, RefitIncludesTheValidationSet) {
  train("-o R --refit");
  EXPECT_EQ(nlohmann::json::parse(run("molgraph-info R --json").out)["holds"]["domain.safetensors"],
            "fingerprints and embeddings of 72 training molecules");
}

TEST_F(DomainCli, MoleculesWithoutLabelsAreNotTrainingMolecules) {
  std::string sparse;
  std::size_t number = 0;
  for (const std::string& line : lines_of(table()))
    sparse += (number > 0 && number % 2 == 0 ? line.substr(0, line.rfind(',') + 1) : line) + "\n", ++number;
  scratch.write("t.csv", sparse);  // 40 of the 80 molecules have a label
  EXPECT_THAT(train("-o R --refit --split-sizes 0.5 0.5 0").err,
              HasSubstr("fingerprints and embeddings of its 40 training molecules, for"));
}

TEST_F(DomainCli, StripRemovesMoleculesAndKeepsPredictions) {
  train("-o E --ensemble-size 2 --domain-labels");
  EXPECT_THAT(run("molgraph-info E").out, HasSubstr("with ids, SMILES and true values"));
  const auto before = score("-m E");
  const ShellResult stripped = run("molgraph-info E --strip");
  EXPECT_EQ(stripped.code, 0) << stripped.err;
  EXPECT_THAT(stripped.out, HasSubstr("removed: E/domain.safetensors"));
  EXPECT_THAT(stripped.out, HasSubstr("removed: E/splits.csv"));
  EXPECT_THAT(stripped.out, HasSubstr("removed: E/log.txt"));
  EXPECT_EQ(run("grep -rlE 'CCCCO|CCCCN' E").out, "");
  EXPECT_EQ(score("-m E"), before);
  EXPECT_THAT(run("molgraph-info E").out, HasSubstr("report (test set"));
  EXPECT_THAT(run("molgraph-info E").out, Not(HasSubstr("contains")));
  EXPECT_THAT(run("molgraph-info E --strip").out, HasSubstr("contains no data"));
  EXPECT_THAT(scratch.read("E/model_card.md"), HasSubstr("The folder contains no structures, ids or labels"));
  EXPECT_EQ(run("molgraph-info E --html").code, 0);
  EXPECT_EQ(run("molgraph-info t.csv --strip").code, 2);
  EXPECT_TRUE(scratch.exists("t.csv"));
}

TEST_F(DomainCli, StripRemovesADamagedDomainAndListsKeptFiles) {
  train("-o B");
  scratch.write("B/gaussian_process.safetensors", "not read");
  scratch.write("B/domain.safetensors", scratch.read("B/domain.safetensors").substr(0, 100));
  const ShellResult stripped = run("molgraph-info B --strip");
  EXPECT_EQ(stripped.code, 0) << stripped.err;
  EXPECT_THAT(stripped.out, HasSubstr("removed: B/domain.safetensors"));
  EXPECT_THAT(stripped.out, HasSubstr("kept: B/gaussian_process.safetensors (fingerprint counts"));
  EXPECT_THAT(stripped.out, HasSubstr("from which their true values can be computed"));
  EXPECT_FALSE(scratch.exists("B/splits.csv"));
}

TEST_F(DomainCli, DamagedFileFailsOnlyWithDomainFlag) {
  train("-o R");
  std::string bytes = scratch.read("R/domain.safetensors");
  bytes[bytes.size() / 2] ^= 1;
  scratch.write("R/domain.safetensors", bytes);
  EXPECT_EQ(run("molgraph-score -m R -i new.csv -o - --domain").code, 4);
  EXPECT_EQ(run("molgraph-score -m R -i new.csv -o -").code, 0);
}

}  // namespace
}  // namespace molgraph::test
