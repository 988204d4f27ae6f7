// scripts/accuracy on two small tables, whose results are computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using testing::Test;

// Rows 0 to 39 are the training set, 40 to 49 the validation set, 50 to 59 the test set.
constexpr char kTables[] = R"([sets]
small = { splits = ["scaffold"], seeds = 3 }
[[table]]
name = "carbons"
set = "small"
file = "small.csv"
smiles = "smiles"
target = "carbons"
kind = "regression"
metrics = ["rmse", "mae"]
[[table]]
name = "odd"
set = "small"
file = "small.csv"
smiles = "smiles"
target = "odd"
kind = "classification"
metrics = ["roc_auc"]
)";

// A method that fits nothing. It predicts the true value (the number of letters) plus OFFSET + 0.1 SEED, plus 1 on
// validation rows. Its class scores order three quarters of the pairs correctly (EXACT), or are equal for all rows.
constexpr char kStandIn[] = R"(import csv, sys
fit, rest, out, kind, seed, offset, exact = sys.argv[1:]
with open(fit) as file: rows = list(csv.DictReader(file))
assert list(rows[0]) == ["smiles", "target", "part"], rows[0]
assert {row["part"] for row in rows} == {"train", "val"} and len(rows) == 50, len(rows)
with open(rest) as file: unseen = list(csv.DictReader(file))
assert list(unseen[0]) == ["row", "smiles"] and len(unseen) == 20, unseen[0]
with open("calls", "a") as file: file.write(kind + " " + seed + "\n")
with open(out, "w") as file:
    file.write("prediction\n")
    for row in unseen:
        n = len(row["smiles"])
        if kind == "regression": value = n + float(offset) + 0.1 * int(seed) + (1 if int(row["row"]) < 50 else 0)
        elif exact == "0": value = 0.3
        else: value = n % 4   # odd ones 1 and 3, even ones 0 and 2
        file.write(f"{value}\n")
)";

constexpr char kMethods[] = R"([peer]
peer = true
command = ["python3", "stand_in.py", "{fit}", "{rest}", "{out}", "{kind}", "{seed}", "0.3", "0"]
version = ["echo", "peer 1"]
[ours]
command = ["python3", "stand_in.py", "{fit}", "{rest}", "{out}", "{kind}", "{seed}", "0.5", "1"]
)";

class Accuracy : public Test {
 protected:
  void SetUp() override {
    if (scratch.run("", "python3 -c 'import tomllib'").code != 0) GTEST_SKIP() << "Python 3.11 is missing";
    std::string table = "smiles,carbons,odd\n";
    for (int row = 0; row < 60; ++row) {
      const int carbons = 1 + row % 20;
      table += std::string(static_cast<std::size_t>(carbons), 'C') + "," + std::to_string(carbons) + "," +
               std::to_string(carbons % 2) + "\n";
    }
    scratch.write("small.csv", table);
    scratch.write("tables.toml", kTables);
    scratch.write("methods.toml", kMethods);
    scratch.write("stand_in.py", kStandIn);
    scratch.write("make_splits.py", R"(import pathlib, sys
sys.path.insert(0, sys.argv[1])
import splits, tables
catalogue = tables.Catalogue(pathlib.Path("tables.toml"), pathlib.Path("."))
for name in catalogue.names("small"):
    splits.write(pathlib.Path("results/splits.csv"),
                 [dict(table=name, split="scaffold", seed="0", sha256=catalogue.load(name).sha256(),
                       parts="0" * 40 + "1" * 10 + "2" * 10)])
)");
    const ShellResult made = scratch.run("", "python3 make_splits.py " MOLGRAPH_ACCURACY);
    ASSERT_EQ(made.code, 0) << made.err;
  }
  ShellResult accuracy(const std::string& arguments) const {
    return scratch.run("", "python3 " MOLGRAPH_ACCURACY " " + arguments +
                               " --set small --data . --tables-file tables.toml --methods-file methods.toml"
                               " --results results --bin " +
                               bin_dir());
  }
  ShellResult run(const std::string& arguments = "") const { return accuracy("run --work work " + arguments); }
  std::size_t calls() const { return scratch.exists("calls") ? lines_of(scratch.read("calls")).size() : 0; }
  /// The row of a Markdown table that begins with `begin`.
  static std::string row(const std::string& text, const std::string& begin) {
    for (const std::string& line : lines_of(text))
      if (line.starts_with("| " + begin)) return line;
    return "no row '" + begin + "' in\n" + text;
  }

  Scratch scratch;
};

TEST_F(Accuracy, MatchesTheHandComputedTable) {
  const ShellResult result = run("--final");
  ASSERT_EQ(result.code, 0) << result.err;
  // The errors of seeds 0, 1, 2 are 0.3, 0.4, 0.5 (peer) and 0.5, 0.6, 0.7 (ours).
  EXPECT_EQ(row(result.out, "carbons | RMSE"), "| carbons | RMSE | **0.400 ± 0.100** | 0.600 ± 0.100 |");
  // The test set has 11 to 20 letters. Odd numbers score 3, 1, 3, 1, 3, even numbers 0, 2, 0, 2, 0: 4 of 25
  // pairs (1 against 2) are wrong.
  EXPECT_EQ(row(result.out, "odd | ROC-AUC"), "| odd | ROC-AUC | 0.500 ± 0.000 | **0.840 ± 0.000** |");
  EXPECT_EQ(row(result.out, "carbons | scaffold"), "| carbons | scaffold | peer | 1.000 | 1.500 |");
  EXPECT_EQ(row(result.out, "odd | scaffold"), "| odd | scaffold | peer | 1.000 | 0.320 |");
  // sqrt(1.5 * 0.32)
  EXPECT_EQ(row(result.out, "geometric mean"), "| geometric mean | scaffold |  | **1.000** | **0.693** |");
  EXPECT_EQ(calls(), 12u);
}

TEST_F(Accuracy, WithoutFinalOnlyValidationResultsAreShown) {
  const ShellResult result = run();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(row(result.out, "carbons | RMSE"), "| carbons | RMSE | **1.400 ± 0.100** | 1.600 ± 0.100 |");
  EXPECT_NE(result.out.find("validation set"), std::string::npos);
  for (const std::string& text : {result.out, result.err})
    for (const char* tested : {"0.400", "0.600", "0.5,", "0.84"})
      EXPECT_EQ(text.find(tested), std::string::npos) << text;
}

TEST_F(Accuracy, InnerSplitsShowTestResults) {
  std::string tables = kTables;
  tables.replace(tables.find("seeds = 3 }"), 11, "seeds = 3, inner = true }");
  scratch.write("tables.toml", tables);
  const ShellResult result = run("--methods peer --tables carbons");
  EXPECT_EQ(row(result.out, "carbons | RMSE"),
            row(run("--methods peer --tables carbons --final").out, "carbons | RMSE"));
  EXPECT_NE(result.out.find("Set `small`, test set"), std::string::npos) << result.out;
}

TEST_F(Accuracy, FinishedRunsAreNotRepeated) {
  ASSERT_EQ(run("--methods peer --seeds 0").code, 0);
  EXPECT_EQ(calls(), 2u);
  const std::string before = scratch.read("results/peers.csv");
  const ShellResult more = run("--methods peer ours --seeds 0 1 --tables carbons");
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(calls(), 5u);
  EXPECT_TRUE(scratch.read("results/peers.csv").starts_with(before));
  EXPECT_EQ(lines_of(scratch.read("results/molgraph.csv")).size(), 1u + 2u * 2u);
  EXPECT_FALSE(scratch.exists("work/carbons/scaffold-0/ours/fit.csv"));
  EXPECT_EQ(lines_of(scratch.read("work/carbons/scaffold-0/ours/predictions.csv")).size(), 21u);

  std::string changed = kMethods;
  changed.replace(changed.find("\"0.5\""), 5, "\"0.2\"");
  scratch.write("methods.toml", changed);
  const ShellResult refused = run("--methods ours --seeds 0 --tables carbons");
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("carbons, scaffold, seed 0: 'ours' was run with other flags"), std::string::npos)
      << refused.err;
  const ShellResult again = run("--methods ours --seeds 0 --tables carbons --again --final");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(row(again.out, "carbons | RMSE"), "| carbons | RMSE | **0.200** |");
  EXPECT_EQ(lines_of(scratch.read("results/molgraph.csv")).size(), 1u + 2u * 2u);
}

TEST_F(Accuracy, PastMethodsAreShownButNotRun) {
  ASSERT_EQ(run("--methods ours --tables carbons").code, 0);
  ASSERT_EQ(calls(), 3u);
  scratch.write("methods.toml", std::string(kMethods) + "past = true\n");
  const ShellResult result = run("--final");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(calls(), 3u + 2u * 3u);  // the peer on both tables
  EXPECT_EQ(row(result.out, "carbons | RMSE"), "| carbons | RMSE | **0.400 ± 0.100** | 0.600 ± 0.100 |");
  EXPECT_EQ(row(result.out, "odd | ROC-AUC"), "| odd | ROC-AUC | **0.500 ± 0.000** | - |");
}

TEST_F(Accuracy, FailedRunIsReportedAndOthersContinue) {
  scratch.write("methods.toml",
                std::string(kMethods) + "[broken]\ncommand = [\"sh\", \"-c\", \"echo out of luck; exit 9\"]\n");
  const ShellResult result = run("--methods broken ours --tables odd --seeds 0 --final");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("odd, scaffold, seed 0, broken: sh ended with 9: out of luck"), std::string::npos)
      << result.err;
  EXPECT_EQ(row(result.out, "odd | ROC-AUC"), "| odd | ROC-AUC | **0.840** |");
}

TEST_F(Accuracy, SplitsOfOtherRowsFail) {
  std::string table = scratch.read("small.csv");
  table.replace(table.find("CC,2,"), 5, "CC,3,");
  scratch.write("small.csv", table);
  const ShellResult result = run("--methods ours --tables carbons");
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("was made for other rows"), std::string::npos) << result.err;
}

TEST_F(Accuracy, SplitsAreMadeOnceAndKept) {
  // Replaces a Python with RDKit: every SMILES is its own scaffold.
  scratch.write("rdkit.sh",
                "#!/bin/sh\nexec python3 -c 'import json, sys; lines = sys.stdin.read().split(); "
                "print(json.dumps(dict(canonical=lines, scaffold=lines)))'\n");
  const std::string arguments =
      "splits --peers-python ./rdkit.sh --splits random scaffold --seeds 0 1 --tables carbons";
  scratch.run("", "chmod +x rdkit.sh");
  ASSERT_EQ(accuracy(arguments).code, 0);
  const std::string once = scratch.read("results/splits.csv");
  EXPECT_EQ(lines_of(once).size(), 1u + 2u + 2u) << "the splits of SetUp() and two random splits";
  EXPECT_EQ(accuracy(arguments).out,
            "carbons random 0: 48 6 6\ncarbons random 1: 48 6 6\n"
            "carbons scaffold 0: 40 10 10\ncarbons scaffold 1: 40 10 10\n");
  EXPECT_EQ(scratch.read("results/splits.csv"), once);
}

TEST_F(Accuracy, WritesTheTableIntoADocument) {
  scratch.write("page.md", "before\n<!-- accuracy small -->\nof yesterday\n<!-- end -->\nafter\n");
  ASSERT_EQ(run("--methods ours --tables carbons").code, 0);
  ASSERT_EQ(accuracy("table --write page.md").code, 0);
  const std::string page = scratch.read("page.md");
  EXPECT_TRUE(page.starts_with("before\n<!-- accuracy small -->\nSet `small`, validation set")) << page;
  EXPECT_TRUE(page.ends_with("\n<!-- end -->\nafter\n")) << page;
  EXPECT_EQ(page.find("yesterday"), std::string::npos);
}

TEST_F(Accuracy, ComparesOfficialSplitsWithPublishedFigures) {
  std::string table = "smiles,value,task,part,cliff\n";
  for (int row = 0; row < 60; ++row) {
    const int carbons = 1 + row % 20;
    table += std::string(static_cast<std::size_t>(carbons), 'C') + "," + std::to_string(carbons) + "," +
             (row % 2 == 0 ? "even" : "odd") + "," + (row < 40 ? "train" : "test") + "," + (row < 50 ? "0" : "1") +
             "\n";
  }
  scratch.write("small.csv", table);
  scratch.write("tables.toml", R"([sets]
small = { splits = ["official"], seeds = 1 }
[[family]]
set = "small"
prefix = "of/"
file = "small.csv"
column = "task"
smiles = "smiles"
target = "value"
official = "part"
subset = "cliff"
kind = "regression"
metrics = ["rmse"]
[family.tasks]
even = {}
odd = {}
)");
  // The error is 1 for rows with 15 letters or more, some of them in the subset, and 0 for the others.
  scratch.write("stand_in.py", R"(import csv, sys
with open(sys.argv[1]) as file:
    letters = [len(row["smiles"]) for row in csv.DictReader(file)]
with open(sys.argv[2], "w") as file:
    file.write("prediction\n" + "".join(f"{n + (n > 14)}\n" for n in letters))
)");
  scratch.write("methods.toml", "[ours]\ncommand = [\"python3\", \"stand_in.py\", \"{rest}\", \"{out}\"]\n");
  scratch.write("results/published.csv",
                "table,metric,method,value\nmean of small,rmse,theirs,0.4\nmean of small,subset_rmse,theirs,0.9\n");
  scratch.write("rdkit.sh",
                "#!/bin/sh\nexec python3 -c 'import json, sys; lines = sys.stdin.read().split(); "
                "print(json.dumps(dict(canonical=lines, scaffold=lines)))'\n");
  scratch.run("", "chmod +x rdkit.sh");
  const ShellResult result = run("--peers-python ./rdkit.sh --final");
  ASSERT_EQ(result.code, 0) << result.err;
  // Test rows have 1 to 20 letters. "even" has 1, 3, ... 19, and 15, 17, 19 are wrong: sqrt(3 / 10). "odd" has 2, 4,
  // ... 20, and 16, 18, 20 are wrong. The subset has the rows above 10: 3 of 5 are wrong in both, sqrt(3 / 5).
  EXPECT_EQ(row(result.out, "ours | 0"), "| ours | 0.548 | 0.775 | 2 of 2 |");
  EXPECT_EQ(row(result.out, "theirs"), "| theirs (published) | 0.4 | 0.9 | all |");
  EXPECT_EQ(row(result.out, "of/even"), "| of/even | RMSE | **0.548** |");
  const ShellResult chosen = run("--peers-python ./rdkit.sh");
  EXPECT_EQ(chosen.out.find("theirs"), std::string::npos) << "published figures are of the test set";
}

TEST_F(Accuracy, TrainsAndScoresMolgraph) {
  scratch.write("methods.toml",
                std::string(kMethods) +
                    "[tiny]\nprogram = \"molgraph\"\nflags = [\"--epochs\", \"60\", \"--layers\", \"1\","
                    " \"--width\", \"16\", \"--heads\", \"2\", \"--batch-size\", \"8\", \"--refit\"]\n"
                    "regression_flags = [\"--metric\", \"rmse\"]\n");
  const ShellResult result = run("--methods tiny --seeds 0 --keep --final");
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> rows = lines_of(scratch.read("results/molgraph.csv"));
  ASSERT_EQ(rows.size(), 4u);
  const std::vector<std::string> names = cells_of(rows[0]), cells = cells_of(rows[1]);
  const auto at = [&](const char* name) {
    return cells.at(std::find(names.begin(), names.end(), name) - names.begin());
  };
  EXPECT_EQ(at("n_test") + " " + at("n_valid") + " " + at("missing") + " " + at("metric"), "10 10 0 rmse");
  EXPECT_LT(std::stod(at("value")), 5.0) << "the deviation of 11 to 20 letters from the training set's mean is 5.8";
  EXPECT_GT(std::stod(at("cpu_seconds")), 0);
  EXPECT_GT(std::stod(at("peak_mb")), 10);
  EXPECT_TRUE(row(result.out, "tiny | ").ends_with(" | 2 |")) << "two tables with one run each: " << result.out;
  EXPECT_NE(at("version").find("molgraph"), std::string::npos);
  EXPECT_EQ(cells.back(), "--epochs 60 --layers 1 --width 16 --heads 2 --batch-size 8 --refit --metric rmse");
  // The validation value is that of the model before the refit, which has not learned the validation set.
  const std::string results = scratch.read("work/carbons/scaffold-0/tiny/run/results.csv"), line = "valid,10,rmse,";
  ASSERT_NE(results.find(line), std::string::npos) << results;
  EXPECT_NEAR(std::stod(at("valid_value")), std::stod(results.substr(results.find(line) + line.size())), 1e-4);
  EXPECT_EQ(scratch.read("work/carbons/scaffold-0/tiny/run/config.toml").find("seed = 1"), std::string::npos);
}

TEST_F(Accuracy, MetricsMatchHandCalculations) {
  const ShellResult result = scratch.run("", "python3 -c 'import sys; sys.path.insert(0, \"" MOLGRAPH_ACCURACY R"(")
import metrics as m
print(m.rmse([1, 2], [1, 4]), m.mae([1, 2], [1, 4]))
print(m.roc_auc([1, 0, 1, 0], [0.9, 0.9, 0.8, 0.1]))
print(m.ap([1, 0, 1, 0], [0.9, 0.9, 0.8, 0.1]))
print(m.spearman([1, 2, 3, 4], [1, 3, 2, 9]), m.spearman([1, 2, 2], [3, 5, 5]), m.spearman([1, 2], [7, 7]))
print(m.roc_auc([1, 1], [0, 1]))')");
  // ROC-AUC: (0.9, 0.9) counts half, (0.9, 0.1) and (0.8, 0.1) are right, (0.8, 0.9) is wrong.
  // AP: 1/2 * 1/2 + 1/2 * 2/3.
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 5u) << result.err;
  EXPECT_EQ(lines[0], "1.4142135623730951 1.0");
  EXPECT_EQ(lines[1], "0.625");
  EXPECT_EQ(lines[2].substr(0, 10), "0.58333333");
  EXPECT_EQ(lines[3], "0.8 1.0 nan");
  EXPECT_EQ(lines[4], "nan");
}

TEST_F(Accuracy, SplitsFollowTheirRules) {
  const ShellResult result = scratch.run("", "python3 -c 'import sys; sys.path.insert(0, \"" MOLGRAPH_ACCURACY R"(")
import splits as s, tables as t
# Groups a 4, c 3, b 3: the 8 training rows have space for a and c (4 + 3); b goes to the test set.
print(s.scaffold(list("aaaabbbccc")))
keys = [str(i // 2) for i in range(200)]   # every molecule twice
parts = s.random(keys, 0)
print(parts.count("0"), parts.count("1"), parts.count("2"), all(parts[i] == parts[i + 1] for i in range(0, 200, 2)))
print(parts != s.random(keys, 1), parts == s.random(keys, 0))
table = t.Table("x", "y", "regression", [], [], [], official=["train"] * 160 + ["test"] * 40)
parts = s.official(table, keys, 0)
print(parts[160:] == "2" * 40, parts.count("1"), parts != s.official(table, keys, 1))')");
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 4u) << result.err;
  EXPECT_EQ(lines[0], "0000222000");
  EXPECT_EQ(lines[1], "160 20 20 True");
  EXPECT_EQ(lines[2], "True True");
  EXPECT_EQ(lines[3], "True 20 True");
}

TEST_F(Accuracy, BalancedSplitTrainsOnLargeScaffolds) {
  const ShellResult result = scratch.run("", "python3 -c 'import sys; sys.path.insert(0, \"" MOLGRAPH_ACCURACY R"(")
import splits as s
# 40 rows: scaffolds a (10 rows) and b (4 rows), both above one twentieth, and 26 scaffolds of one row each.
keys = ["a"] * 10 + ["b"] * 4 + [str(i) for i in range(26)]
parts = [s.scaffold_balanced(keys, seed) for seed in range(20)]
print({p[:14] for p in parts}, {(p.count("0"), p.count("1"), p.count("2")) for p in parts}, len(set(parts)))
print(parts[3] == s.scaffold_balanced(keys, 3))')");
  EXPECT_EQ(result.out, "{'00000000000000'} {(32, 4, 4)} 20\nTrue\n") << result.err;
}

}  // namespace
}  // namespace molgraph::test
