// report.html, from training to molgraph-info.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/apps/shell.hpp"
#include "tests/support/html_check.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-baselines ";

/// Chains and rings, with a numeric column whose name is hostile HTML, and a class column.
std::string table(int rows) {
  std::string text = "smiles,<script>alert(1)</script>,kind\n";
  const char* ends[] = {"O", "N", "F", "c1ccccc1", "C1CC1", "C(=O)O"};
  for (int k = 0; k < rows; ++k)
    text += "C" + std::string(static_cast<std::size_t>(1 + k % 40), 'C') + ends[k / 40 % 6] + "," +
            std::to_string(0.1 * (k % 40) + 0.37 * ((k * 7919) % 11)) + (k * 31 % 7 < k % 40 % 7 ? ",yes" : ",no") +
            "\n";
  return text + "C1CC,1,yes\n";
}

class ReportCli : public ::testing::Test {
 protected:
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult train(const std::string& arguments, int rows = 240) {
    scratch.write("t.csv", table(rows));
    ShellResult result = run("molgraph-train t.csv " + arguments + kTiny);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  std::string page(const std::string& folder) {
    const std::string html = scratch.read(folder + "/report.html");
    EXPECT_EQ(html_problem(html), "");
    EXPECT_EQ(network_reference(html), "");
    EXPECT_LT(html.size(), 2U << 20);
    return html;
  }
  /// Keeps the whole page out of failure messages.
  static bool has(const std::string& html, const std::string& piece) { return html.find(piece) != std::string::npos; }

  /// SMILES of the training set, and of the other sets.
  std::pair<std::set<std::string>, std::set<std::string>> sets_of(const std::string& folder) {
    std::set<std::string> train, others;
    for (const std::string& line : lines_of(scratch.read(folder + "/splits.csv"))) {
      const auto cells = cells_of(line);
      (cells[3] == "train" ? train : others).insert(cells[2]);
    }
    return {train, others};
  }

  Scratch scratch;
};

const std::string kNumbers = "--target-columns '<script>alert(1)</script>' ";

TEST_F(ReportCli, InfoRecreatesTheSameReport) {
  const ShellResult trained = train("-o R --split-sizes 0.5 0.25 0.25 " + kNumbers);
  EXPECT_THAT(trained.err, HasSubstr("Report: R/report.html"));
  const std::string html = page("R");
  EXPECT_TRUE(has(html, "&lt;script&gt;alert(1)"));
  EXPECT_TRUE(has(html, "1 row (reasons)"));
  EXPECT_TRUE(has(html, "mean predictor"));
  EXPECT_TRUE(has(html, "id=\"parity-0\""));
  for (const char* piece :
       {"What to be careful about", "The split is random", "molgraph-train --config RUN/config.toml",
        "SHA-256 of the data</dt><dd>", "id=\"cover\"", "id=\"far\"", "Worst predictions on the test set",
        "similarity 0.", "Near twins with different labels", "class=\"molecule\"><svg"})
    EXPECT_TRUE(has(html, piece)) << piece;
  const std::string card = scratch.read("R/model_card.md");
  EXPECT_THAT(card, HasSubstr("- `splits.csv`: ids and SMILES of all molecules"));
  EXPECT_THAT(card, HasSubstr("- `report.html`: ids, structures, predictions and true values"));
  scratch.write("R/report.html", "old");
  scratch.write("R/model_card.md", "old");
  const ShellResult again = run("molgraph-info R --html");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, "R/report.html\n");
  EXPECT_EQ(scratch.read("R/report.html"), html);
  EXPECT_EQ(scratch.read("R/model_card.md"), card);
  EXPECT_THAT(run("molgraph-info R").out, HasSubstr("  careful       The split is random"));
  // The values match results.csv.
  const auto record = nlohmann::json::parse(scratch.read("R/report.json"));
  for (const std::string& line : lines_of(scratch.read("R/results.csv"))) {
    const auto cells = cells_of(line);
    if (cells[2] == "mae" || cells[2] == "rmse" || cells[2] == "r2") {
      EXPECT_NEAR(record["methods"][0][cells[0]]["mean"][cells[2]][0].get<double>(), std::stod(cells[3]), 1e-5) << line;
    }
  }
}

TEST_F(ReportCli, NoReportChangesNoOtherFile) {
  train("-o R " + kNumbers);
  train("-o N --no-report " + kNumbers);
  for (const char* name : {"report.html", "report.json", "model_card.md"}) {
    EXPECT_TRUE(scratch.exists("R/" + std::string(name)));
    EXPECT_FALSE(scratch.exists("N/" + std::string(name)));
  }
  // All other files are bitwise identical.
  for (const char* name : {"metrics.csv", "model.safetensors", "results.csv", "test_predictions.csv"})
    EXPECT_EQ(scratch.read("R/" + std::string(name)), scratch.read("N/" + std::string(name))) << name;
}

TEST_F(ReportCli, RecordAndCardContainNoTrainingMolecule) {
  train("-o R " + kNumbers);
  const std::string record = scratch.read("R/report.json");
  std::string card = scratch.read("R/model_card.md");
  std::erase(card, '\\');  // of escaped characters
  for (const std::string& line : lines_of(scratch.read("R/splits.csv"))) {
    const auto cells = cells_of(line);
    EXPECT_THAT(record, Not(HasSubstr("\"" + cells[2] + "\"")));
    EXPECT_TRUE(cells[2].size() < 9 || !has(card, cells[2])) << cells[2];
  }
}

TEST_F(ReportCli, StrippedRunsKeepTheirCards) {
  train("-o R --folds 2 " + kNumbers);
  for (const std::string folder : {"R", "R/model_1"})
    EXPECT_THAT(scratch.read(folder + "/model_card.md"), HasSubstr("`report.html`"));
  const std::string before = scratch.read("R/model_card.md");
  EXPECT_EQ(run("molgraph-info R/model_0 --strip").code, 0);
  EXPECT_THAT(scratch.read("R/model_card.md"),
              AllOf(Not(HasSubstr("`model_0/splits.csv`")), HasSubstr("`model_1/splits.csv`")));
  EXPECT_EQ(run("molgraph-info R --strip").code, 0);
  for (const std::string folder : {"R", "R/model_1"})
    EXPECT_THAT(scratch.read(folder + "/model_card.md"), Not(HasSubstr("`splits.csv`"))) << folder;
  EXPECT_EQ(run("molgraph-info R --html").code, 0);
  const std::string after = scratch.read("R/model_card.md");
  const std::size_t shared = before.find("## Information about molecules");
  EXPECT_EQ(after.substr(0, shared), before.substr(0, shared)) << "results and warnings remain";
}

TEST_F(ReportCli, TrainingMoleculesAreShownOnlyIfAllowed) {
  train("-o R --duplicates keep " + kNumbers);
  train("-o L --duplicates keep --domain-labels " + kNumbers);
  const std::string without_names = page("R"), with_names = page("L");
  EXPECT_FALSE(has(without_names, "Most similar training molecule"));
  EXPECT_TRUE(has(with_names, "Most similar training molecule"));
  auto [train, others] = sets_of("R");
  int shown = 0;
  for (const std::string& smiles : train) {
    const std::string code = "<code>" + smiles + "</code>";
    EXPECT_TRUE(others.contains(smiles) || !has(without_names, code)) << smiles;
    shown += has(with_names, code);
  }
  EXPECT_GT(shown, 0);
  const std::string record = scratch.read("R/report.json");
  EXPECT_FALSE(has(record, "[1.0,1.0,")) << "a training molecule is not compared with itself";
  // With inner folds, the report also evaluates out-of-fold predictions of training molecules.
  this->train("-o V --out-of-fold --split-sizes 0.7 0.3 0 --duplicates keep " + kNumbers);
  const std::string out_of_fold = page("V");
  EXPECT_TRUE(has(out_of_fold, "Worst predictions on the validation set"));
  std::tie(train, others) = sets_of("V");
  for (const std::string& smiles : train)
    EXPECT_TRUE(others.contains(smiles) || !has(out_of_fold, "<code>" + smiles + "</code>")) << smiles;
  // With member splits, these can be fewer rows than the validation set has.
  this->train("-o M --ensemble-size 2 --member-splits --split-sizes 0.6 0.4 0 --duplicates keep " + kNumbers);
  const std::string of_members = page("M");
  EXPECT_TRUE(has(of_members, "Worst predictions on the validation set"));
  EXPECT_TRUE(has(of_members, "not trained on, but on which their best epochs were chosen"));
  std::tie(train, others) = sets_of("M");
  for (const std::string& smiles : train)
    EXPECT_TRUE(others.contains(smiles) || !has(of_members, "<code>" + smiles + "</code>")) << smiles;
  run("rm L/report.html && molgraph-info L --html");
  EXPECT_EQ(scratch.read("L/report.html"), with_names);
}

TEST_F(ReportCli, CoversClassesAndFewRows) {
  train("-o C --target-columns kind");
  EXPECT_TRUE(has(page("C"), "id=\"roc\""));
  train("-o F " + kNumbers, 20);
  EXPECT_TRUE(has(page("F"), "has none"));
}

TEST_F(ReportCli, ReportErrorsAreReportedButDoNotFailTraining) {
  scratch.write("t.csv", table(60));
  const ShellResult trained =
      run("mkdir -p R/report.html && touch R/report.html/x && molgraph-train t.csv -o R " + kNumbers + kTiny);
  EXPECT_EQ(trained.code, 0) << trained.err;  // a failed report does not fail the run
  EXPECT_THAT(trained.err, HasSubstr("The report could not be created; the run is complete without it"));
  EXPECT_TRUE(scratch.exists("R/model.safetensors"));
  train("-o S " + kNumbers, 60);
  scratch.write("S/report.json", "{");
  EXPECT_EQ(run("molgraph-info S --html").code, 4);
  EXPECT_EQ(run("molgraph-info S/model.safetensors --html").code, 2);
  EXPECT_EQ(run("molgraph-info S --html --json").code, 2);
  EXPECT_EQ(run("molgraph-info nowhere --html").code, 4);
}

}  // namespace
}  // namespace molgraph::test
