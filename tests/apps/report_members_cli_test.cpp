// Reports on several models (folds and ensembles), and the summary of a report in molgraph-info.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/system/readable.hpp"
#include "tests/apps/report_script.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/html_check.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Json = nlohmann::json;

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-baselines --no-blend ";

class ReportMembersCli : public ::testing::Test {
 protected:
  ReportMembersCli() { write_table(240); }
  void write_table(int rows) {
    std::string text = "name,smiles,a,b\n";
    const char *heads[] = {"C", "BrC", "ClC", "IC"}, *ends[] = {"O", "N", "F", "c1ccccc1", "C1CC1", "C(=O)O"};
    for (int k = 0; k < rows; ++k)
      text += "m" + std::to_string(k) + "," + heads[k / 240] + std::string(static_cast<std::size_t>(k % 40), 'C') +
              ends[k / 40 % 6] + "," + std::to_string(label_a(k)) + "," + (k % 3 == 0 ? "" : std::to_string(k % 7)) +
              "\n";
    scratch.write("t.csv", text);
  }
  static double label_a(int k) { return 0.1 * (k % 40) + 0.37 * ((k * 7919) % 11); }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  /// Returns what the program prints.
  std::string train(const std::string& arguments) {
    const ShellResult result = run("molgraph-train t.csv --id-column name " + arguments + kTiny);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  Json report_of(const std::string& folder) {
    const ShellResult info = run("molgraph-info " + folder + " --json");
    EXPECT_EQ(info.code, 0) << info.err;
    return Json::parse(info.out).at("report");
  }
  std::string page(const std::string& folder) {
    const std::string html = scratch.read(folder + "/report.html");
    EXPECT_EQ(html_problem(without_script(html)), "");
    run("rm " + folder + "/report.html && molgraph-info " + folder + " --html");
    EXPECT_EQ(scratch.read(folder + "/report.html"), html);
    return html;
  }
  /// The mean absolute error of target `a` in a predictions file.
  double error_of(const std::string& file) {
    double sum = 0, count = 0;
    const auto lines = lines_of(scratch.read(file));
    for (std::size_t k = 1; k < lines.size(); ++k) {
      const auto cells = cells_of(lines[k]);
      sum += std::abs(std::stod(cells[2]) - std::stod(cells[3])), count += 1;
    }
    return sum / count;
  }

  Scratch scratch;
};

TEST_F(ReportMembersCli, FoldsAreSummarisedWithTheirSpread) {
  constexpr int kRows = 800;  // enough to calibrate on the validation set of each fold
  write_table(kRows);
  train("-o R --folds 3 --target-columns a");
  const std::string html = page("R");
  for (const char* piece : {"Results by fold", "mean of the folds", "fold 2", "Means over 3 folds", "3 folds",
                            "id=\"members\"", "id=\"parity-0\"", "id=\"far\"", "Intervals on the test set"})
    EXPECT_NE(html.find(piece), std::string::npos) << piece;

  // Mean and standard deviation of the errors of the folds' predictions.
  std::vector<double> errors;
  for (int k = 0; k < 3; ++k) errors.push_back(error_of("R/model_" + std::to_string(k) + "/test_predictions.csv"));
  const double mean = (errors[0] + errors[1] + errors[2]) / 3;
  double squares = 0;
  for (const double error : errors) squares += (error - mean) * (error - mean);
  const double deviation = std::sqrt(squares / 2);
  const Json report = report_of("R");
  const Json& mae = report.at("measures").at("test").at("mae");
  EXPECT_NEAR(mae.at("value").get<double>(), mean, 1e-5);
  EXPECT_NEAR(mae.at("high").get<double>(), mean + deviation, 1e-5);
  EXPECT_NEAR(mae.at("low").get<double>(), mean - deviation, 1e-5);
  EXPECT_EQ(report.at("folds"), 3);
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(report.at("members").at(static_cast<std::size_t>(k)).at("mae").at("value").get<double>(),
                errors[static_cast<std::size_t>(k)], 1e-5);

  // Every molecule is in one test set.
  EXPECT_EQ(report.at("measures").at("test").at("molecules"), kRows);
  int binned = 0, covered = 0;
  for (const Json& bin : report.at("by_similarity")) binned += bin.at("molecules").get<int>();
  for (const Json& one : report.at("coverage")) covered = one.at("labels").get<int>();
  EXPECT_EQ(binned, kRows);
  EXPECT_EQ(covered, kRows);

  // The worst predictions are the worst over all folds.
  std::vector<std::pair<double, std::string>> all;
  for (int k = 0; k < 3; ++k) {
    const auto lines = lines_of(scratch.read("R/model_" + std::to_string(k) + "/test_predictions.csv"));
    for (std::size_t r = 1; r < lines.size(); ++r) {
      const auto cells = cells_of(lines[r]);
      all.emplace_back(-std::abs(std::stod(cells[2]) - std::stod(cells[3])), cells[0]);
    }
  }
  std::ranges::sort(all);
  for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(report.at("worst").at(k).at("id"), all[k].second);
  // Near twins are the pairs that any fold found. Each pair appears once.
  using Pair = std::pair<std::string, std::string>;
  std::set<Pair> found, listed;
  for (int k = 0; k < 3; ++k) {
    const std::string folder = "R/model_" + std::to_string(k);
    const Json twins = Json::parse(scratch.read(folder + "/report.json")).value("twins", Json::array());
    const auto id = [&](const Json& side) {
      const auto rows = lines_of(scratch.read(folder + "/" + side.at(0).get<std::string>() + "_predictions.csv"));
      return cells_of(rows.at(side.at(1).get<std::size_t>() + 1)).front();
    };
    for (const Json& pair : twins) found.insert(std::minmax(id(pair.at("a")), id(pair.at("b"))));
  }
  double previous = INFINITY;  // sorted by difference, the largest first
  for (const Json& pair : report.at("twins")) {
    const double difference = std::abs(pair.at("a").at("label").get<double>() - pair.at("b").at("label").get<double>());
    EXPECT_LE(difference, previous + 1e-5);
    previous = difference;
    const auto a = pair.at("a").at("id").get<std::string>(), b = pair.at("b").at("id").get<std::string>();
    EXPECT_TRUE(listed.insert(std::minmax(a, b)).second) << a << " " << b;
    EXPECT_TRUE(found.contains(std::minmax(a, b))) << a << " " << b;
    EXPECT_NEAR(pair.at("a").at("label").get<double>(), label_a(std::stoi(a.substr(1))), 1e-5);
  }
  EXPECT_EQ(listed.size(), 10U);
}

TEST_F(ReportMembersCli, NoReportAppliesToAllFolds) {
  train("-o R --folds 2 --target-columns a --no-report");
  EXPECT_FALSE(scratch.exists("R/report.html"));
  EXPECT_FALSE(scratch.exists("R/model_0/report.html"));
  EXPECT_FALSE(Json::parse(run("molgraph-info R --json").out).contains("report"));
}

TEST_F(ReportMembersCli, EnsembleMembersAreShownSeparately) {
  for (const std::string splits : {"", "--member-splits "}) {
    const ShellResult cleared = run("rm -rf R out.csv");
    ASSERT_EQ(cleared.code, 0) << cleared.err;
    train("-o R --ensemble-size 2 --target-columns a --split-sizes 0.6 0.2 0.2 " + splits);
    const std::string html = page("R");
    EXPECT_NE(html.find("Results by model"), std::string::npos);
    EXPECT_NE(html.find("whole ensemble"), std::string::npos);
    const Json report = report_of("R");
    ASSERT_EQ(report.at("members").size(), 2U);
    EXPECT_NEAR(report.at("measures").at("test").at("mae").at("value").get<double>(),
                error_of("R/test_predictions.csv"), 1e-5);
    // The error of a single member equals the value in the report.
    for (int k = 0; k < 2; ++k) {
      const std::string model = "model_" + std::to_string(k);
      const ShellResult scored =
          run("cut -d, -f1-3 R/test_predictions.csv > in.csv && rm -f out.csv && molgraph-score -m R/" + model +
              " -i in.csv -o out.csv && cut -d, -f1-4 out.csv > own.csv && head -1 own.csv");
      ASSERT_EQ(scored.code, 0) << scored.err;
      const Json& member = report.at("members").at(static_cast<std::size_t>(k));
      EXPECT_EQ(member.at("name"), model);
      EXPECT_NEAR(member.at("mae").at("value").get<double>(), error_of("own.csv"), 1e-4) << splits;
    }
  }
}

TEST_F(ReportMembersCli, EveryTargetHasARow) {
  const std::string printed = train("-o R --target-columns a b --split-sizes 0.6 0.2 0.2");
  const std::string html = page("R");
  const std::size_t at = html.find("<caption>All targets, test set</caption>");
  ASSERT_NE(at, std::string::npos);
  int labels_a = 0, labels_b = 0;
  const auto lines = lines_of(scratch.read("R/test_predictions.csv"));
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const auto cells = cells_of(lines[k]);
    labels_a += !cells[2].empty(), labels_b += !cells[4].empty();
  }
  EXPECT_NE(html.find(">a</th><td>" + std::to_string(labels_a) + "</td>", at), std::string::npos);
  EXPECT_NE(html.find(">b</th><td>" + std::to_string(labels_b) + "</td>", at), std::string::npos);
  EXPECT_LT(labels_b, labels_a);

  // So have the terminal and the model card.
  const Json targets = report_of("R").at("targets");
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_NEAR(targets[0].at("mae").at("value").get<double>(), error_of("R/test_predictions.csv"), 1e-5);
  const std::string info = run("molgraph-info R").out, card = scratch.read("R/model_card.md");
  EXPECT_THAT(printed, HasSubstr("\nTargets, test set:\n  target  labels  "));
  for (const Json& target : targets) {
    const auto name = target.at("name").get<std::string>();
    const std::string labels = std::to_string(name == "a" ? labels_a : labels_b);
    const std::string mae = sensible_number(target.at("mae").at("value").get<double>());
    EXPECT_THAT(lines_of(printed), Contains(MatchesRegex("  " + name + " +" + labels + " +" + mae + " .*")));
    EXPECT_THAT(lines_of(info), Contains(MatchesRegex("  " + name + " +" + labels + " +" + mae + " .*")));
    EXPECT_THAT(card, HasSubstr("\n| " + name + " | " + labels + " | " + mae + " ("));
  }
}

TEST_F(ReportMembersCli, RecipeResultIsComparedWithThePaper) {
  const ShellResult trained =
      run("molgraph-train t.csv -o R --recipe grpe-zinc --steps 2 --batch-size 64 --target-columns a --threads 2");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::string comparison =
      "Recipe grpe-zinc. The paper: test MAE 0.094 +- 0.002; this run is outside this range (with 2 of "
      "400000 steps)";
  EXPECT_NE(page("R").find(comparison), std::string::npos);
  EXPECT_EQ(report_of("R").at("recipe"), comparison);
}

TEST_F(ReportMembersCli, InfoSummarisesTheReport) {
  train("-o R --target-columns a --split-sizes 0.6 0.2 0.2 --metric rmse");
  const Json report = report_of("R");
  const std::string info = run("molgraph-info R").out;
  const auto lines = lines_of(info);
  const auto line_of = [&](const std::string& label) {
    for (const std::string& line : lines)
      if (line.starts_with("  " + label + " ")) return line;
    return std::string();
  };
  EXPECT_THAT(info, HasSubstr("train (144)"));
  EXPECT_THAT(info, HasSubstr("test (48)"));
  EXPECT_THAT(line_of("rmse"), HasSubstr(" to "));
  EXPECT_THAT(line_of("compared with"), HasSubstr("rmse of mean predictor "));
  EXPECT_THAT(line_of("worst"), HasSubstr(report.at("worst").at(0).at("id").get<std::string>() + ": label "));
  EXPECT_THAT(line_of("worst"), HasSubstr("... and 7 more"));
  EXPECT_THAT(line_of("by similarity"), HasSubstr(" ("));
  char value[32];
  std::snprintf(value, sizeof value, "%.3f", report.at("measures").at("test").at("rmse").at("value").get<double>());
  EXPECT_THAT(line_of("rmse"), HasSubstr(value));
}

}  // namespace
}  // namespace molgraph::test
