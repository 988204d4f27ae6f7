// Difficult tables in every program that reads tables: Latin-1 text, no header, spreadsheets, a million columns, and a
// pipe without data.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/tables/encoding.hpp"
#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

const std::string kTiny = " --layers 1 --width 8 --ffn 8 --heads 2 --epochs 1 --threads 1 --no-blend --no-baselines ";
const std::string kActivity = "Aktivit\xC3\xA4t";

class TableCli : public testing::Test {
 protected:
  void SetUp() override { save_tiny_run(scratch.path("run"), tiny_config(graphormer_architecture(), {"y"}), 1); }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult score(const std::string& more) { return run("molgraph-score -m run -o out.csv " + more); }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }
  /// `head`, then 20 alkanes with a number each; every row ends with `tail`.
  static std::string rows(const std::string& head, const std::string& tail = "") {
    std::string text = head;
    for (int i = 1; i <= 20; ++i)
      text += std::string(static_cast<std::size_t>(i), 'C') + "," + std::to_string(i) + ".5" + tail + "\n";
    return text;
  }
  void expect_utf8_below(const std::string& folder) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(scratch.path(folder))) {
      const std::string name = file.path().filename().string();
      if (!file.is_regular_file() || name.ends_with(".safetensors") || name.ends_with(".npz")) continue;
      const std::string text = scratch.read(std::filesystem::relative(file.path(), scratch.path("")).string());
      EXPECT_EQ(valid_utf8_prefix(text), text.size()) << name;
    }
  }
  Scratch scratch;
};

TEST_F(TableCli, EveryProgramReadsLatin1) {
  scratch.write("latin.csv", rows("smiles,Aktivit\xE4t,Stra\xDF"
                                  "e\n",
                                  ",\x8Aumava"));
  const auto trained = run("molgraph-train latin.csv -o model" + kTiny + "--target-columns '" + kActivity + "'");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(count(trained.err, "is not UTF-8"), 1u) << trained.err;
  expect_utf8_below("model");
  const auto scored = run("molgraph-score -m model -i latin.csv -o scored.csv");
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(count(scored.err, "is not UTF-8"), 1u) << scored.err;
  const std::string text = scratch.read("scored.csv");
  EXPECT_EQ(valid_utf8_prefix(text), text.size());
  EXPECT_EQ(lines_of(text)[0], "smiles," + kActivity +
                                   ",Stra\xC3\x9F"
                                   "e," +
                                   kActivity + "_pred,status,reason");
  EXPECT_TRUE(lines_of(text)[1].starts_with("C,1.5,\xC5\xA0umava,"))
      << "Windows-1252, as Excel writes it: " << lines_of(text)[1];
  const auto embedded = run("molgraph-embed -m model -i latin.csv -o vectors.csv");
  ASSERT_EQ(embedded.code, 0) << embedded.err;
  const auto stored = run("molgraph-featurize latin.csv -o latin.h5");
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(count(stored.err, "is not UTF-8"), 1u) << stored.err;
  const auto info = run("molgraph-info --json latin.h5");
  EXPECT_EQ(nlohmann::json::parse(info.out)["targets"][0]["name"], kActivity);
  const auto again = run("molgraph-train latin.h5 -o from_store" + kTiny);
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(TableCli, FirstRowOfAHeaderlessTableIsKept) {
  scratch.write("bare.csv", rows("C1CC,7.5\n"));
  const auto scored = score("-i bare.csv");
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_NE(scored.err.find("first line is used as data"), std::string::npos) << scored.err;
  EXPECT_EQ(lines_of(scratch.read("out.csv"))[1].substr(0, 9), "C1CC,7.5,");
  for (const std::string& program :
       {"molgraph-train bare.csv -o kept" + kTiny, std::string("molgraph-featurize bare.csv -o bare.h5"),
        std::string("molgraph-embed -m run -i bare.csv -o bare_vectors.csv")}) {
    const auto result = run(program);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("first line is used as data"), std::string::npos) << result.err;
  }
  EXPECT_EQ(lines_of(scratch.read("bare_vectors.csv")).size(), 22u);
}

TEST_F(TableCli, HeaderFlagsOverrideTheDetection) {
  scratch.write("bare.csv", rows("C1CC,7.5\n"));
  scratch.write("named.toml", "header = true\n");
  scratch.write("bare.toml", "no-header = true\n");
  ASSERT_EQ(score("-i bare.csv --header").code, 0);
  EXPECT_EQ(lines_of(scratch.read("out.csv"))[0].substr(0, 9), "C1CC,7.5,");
  ASSERT_EQ(score("-i bare.csv --config named.toml").code, 0);
  EXPECT_EQ(lines_of(scratch.read("out.csv")).size(), 21u);
  ASSERT_EQ(score("-i bare.csv --config named.toml --no-header").code, 0) << "the command line overrides the file";
  EXPECT_EQ(lines_of(scratch.read("out.csv")).size(), 22u);
  ASSERT_EQ(score("-i bare.csv --config bare.toml").code, 0);
  EXPECT_EQ(lines_of(scratch.read("out.csv")).size(), 22u);
  const auto both = score("-i bare.csv --header --no-header");
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("contradict"), std::string::npos) << both.err;
  EXPECT_EQ(run("molgraph-train bare.csv --header --no-header -o x" + kTiny).code, 2);
  const auto trained = run("molgraph-train bare.csv --config named.toml --no-header -o y" + kTiny);
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(scratch.read("y/config.toml").find("no-header = true"), std::string::npos);
  EXPECT_EQ(run("molgraph-featurize bare.csv --header -o z.h5").code, 0);
}

TEST_F(TableCli, MissingSmilesColumnSuggestsTheFlag) {
  scratch.write("odd.csv", "label,y\nfirst,2\nsecond,3\n");
  for (const std::string program :
       {"molgraph-score -m run -i odd.csv -o o.csv", "molgraph-embed -m run -i odd.csv -o o.npz",
        "molgraph-featurize odd.csv -o o.h5", "molgraph-train odd.csv -o o"}) {
    const auto result = run(program);
    EXPECT_EQ(result.code, 3) << program << result.err;
    EXPECT_NE(result.err.find("specify it with -s"), std::string::npos) << result.err;
  }
}

TEST_F(TableCli, ErrorsNameWorkbooksAndOtherArchives) {
  scratch.write("a.xlsx", std::string("PK\x03\x04") + std::string(100, '\x02'));
  scratch.write("a.csv.xz", std::string("\xFD"
                                        "7zXZ\0",
                                        6) +
                                std::string(100, '\x02'));
  for (const std::string program : {"molgraph-score -m run -o o.csv -i ", "molgraph-embed -m run -o o.npz -i ",
                                    "molgraph-featurize -o o.h5 ", "molgraph-train -o o "}) {
    for (const std::string file : {"a.xlsx", "a.csv.xz"}) {
      const auto result = run(program + file);
      EXPECT_EQ(result.code, 4) << program << result.err;
      EXPECT_EQ(count(result.err, "error:"), 1u) << result.err;
      EXPECT_NE(result.err.find(file == "a.xlsx" ? "save the sheet as CSV" : "unxz"), std::string::npos) << result.err;
    }
  }
}

TEST_F(TableCli, ErrorsNameInvalidDatesAndDecimalCommas) {
  std::string text = "smiles,y,day\n";
  for (int i = 1; i <= 12; ++i)
    text += std::string(static_cast<std::size_t>(i), 'C') + "," + std::to_string(i) + ",2024-" + (i < 10 ? "0" : "") +
            std::to_string(i) + "-28\n";
  scratch.write("days.csv", text + "CCO,3,2024-99-99\n");
  for (const std::string& program :
       {"molgraph-train days.csv -o t" + kTiny, std::string("molgraph-featurize days.csv -o t.h5 ")}) {
    const auto result = run(program + " --split-type time --time-column day --target-columns y");
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_NE(result.err.find("row 13: not a valid date or time"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("2024-99-99"), std::string::npos) << result.err;
  }
  scratch.write("comma.csv", "SMILES;Wert\nCCO;1,5\nCCN;2,5\nCC;3\n");
  for (const std::string& program :
       {"molgraph-train comma.csv -o c" + kTiny, std::string("molgraph-featurize comma.csv -o c.h5")}) {
    const auto result = run(program);
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_NE(result.err.find("row 1: column 'Wert'"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("decimal commas"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("1,5"), std::string::npos) << result.err;
  }
}

TEST_F(TableCli, RowNumbersAreTheIdsOfUnnamedSmiles) {
  scratch.write("a.smi", "CCO\nCCN named\nC\n");
  ASSERT_EQ(run("molgraph-embed -m run -i a.smi -o ids.csv --format smi").code, 0);
  const auto lines = lines_of(scratch.read("ids.csv"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(cells_of(lines[1])[0], "1");
  EXPECT_EQ(cells_of(lines[2])[0], "named");
  EXPECT_EQ(cells_of(lines[3])[0], "3");
}

// If the work grew with the square of the number of columns, the command would be killed before its end.
TEST_F(TableCli, MillionColumnsFailAtOnce) {
  scratch.write("wide.csv", "smiles" + std::string(1'000'000, ',') + "\nC" + std::string(1'000'000, ',') + "\n");
  for (const std::string program : {"molgraph-score -m run -i wide.csv -o o.csv", "molgraph-featurize wide.csv -o o.h5",
                                    "molgraph-train wide.csv -o o"}) {
    const auto result = run(program);
    EXPECT_EQ(result.code, 3) << program << result.err;
    EXPECT_NE(result.err.find("1000001 columns, but the limit is 100000"), std::string::npos) << result.err;
  }
}

TEST_F(TableCli, SignalEndsAWaitingRead) {
  // The pipe stays open without more data. A program that does not check for signals would wait forever.
  for (const std::string program :
       {"molgraph-featurize - -o o.h5", "molgraph-train - -o o", "molgraph-score -m run -i - -o -"}) {
    const auto result = run(
        "mkfifo pipe; (echo smiles,y; exec sleep 900) > pipe & writer=$!\n" + program +
        " < pipe & reader=$!\nsleep 3; kill -TERM $reader; wait $reader; code=$?; kill $writer; rm pipe; exit $code");
    EXPECT_EQ(result.code, 143) << program << result.err;
  }
}

}  // namespace
}  // namespace molgraph::test
