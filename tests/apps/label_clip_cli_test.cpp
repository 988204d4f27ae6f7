// Outlier labels from training to molgraph-info: logged, clipped with --clip-labels, unchanged in output files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/training/baselines/booster.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny = " --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --from none --no-report ";
const std::string kModelOnly = kTiny + "--epochs 2 --loss mse --no-baselines --no-blend ";

class LabelClipCli : public ::testing::Test {
 protected:
  static constexpr int kRows = 140;

  /// Chains with one of four end groups and labels 0 ... 9. Rows 61 ... 120 are the validation set, 121 ... 140 the
  /// test set. `labels` replaces labels, by row number from 1.
  std::string table(const std::map<int, std::string>& labels) {
    std::string text = "smiles,id,logS,active,part\n";
    const char* ends[] = {"O", "N", "c1ccccc1", "C1CC1"};
    for (int k = 0; k < kRows; ++k) {
      const auto label = labels.find(k + 1);
      text += std::string(static_cast<std::size_t>(1 + k / 4), 'C') + ends[k % 4] + ",m" + std::to_string(k + 1) + "," +
              (label != labels.end() ? label->second : std::to_string(k % 10)) + "," + std::to_string(k % 2) + "," +
              (k < 60    ? "train"
               : k < 120 ? "val"
                         : "test") +
              "\n";
    }
    const std::string name = "t" + std::to_string(++tables_) + ".csv";
    scratch.write(name, text);
    return name;
  }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  std::string train(const std::string& arguments, const std::string& target = "logS") {
    const ShellResult result = run("molgraph-train " + arguments + " --target-columns " + target);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  }
  std::string report(const std::string& folder) {
    EXPECT_EQ(run("molgraph-info " + folder + " --html").code, 0);
    return scratch.read(folder + "/report.html");
  }
  void expect_same(const std::string& a, const std::string& b) {
    EXPECT_TRUE(scratch.read(a) == scratch.read(b)) << a << " " << b;
  }
  nlohmann::json record(const std::string& folder) { return nlohmann::json::parse(scratch.read(folder + "/run.json")); }
  /// The label of a molecule in a file of predictions.
  std::optional<std::string> label_in(const std::string& file, const std::string& id) {
    for (const std::string& line : lines_of(scratch.read(file)))
      if (const auto cells = cells_of(line); cells.at(0) == id) return cells.at(2);
    return std::nullopt;
  }

  Scratch scratch;

 private:
  int tables_ = 0;
};

const std::string kSets = " --splits-column part ";

TEST_F(LabelClipCli, OutliersAreLoggedStoredAndStripped) {
  const std::string log =
      train(table({{5, "-3500"}, {65, "900"}, {125, "800"}}) + " -o R --domain-labels" + kSets + kModelOnly);
  EXPECT_THAT(log, HasSubstr("3 outlier labels, which may be typing errors"));
  EXPECT_THAT(log, HasSubstr("'logS' -3,500 (row 5, id m5, training set): "));
  EXPECT_THAT(log, HasSubstr("'logS' 900.0 (row 65, id m65, validation set): "));
  EXPECT_THAT(log, HasSubstr("'logS' 800.0 (row 125, id m125, test set): "));
  EXPECT_THAT(log, HasSubstr("; the most similar molecules have "));
  const auto labels = record("R")["suspicious_labels"];
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(labels[0]["value"], -3500);
  EXPECT_EQ(labels[0]["neighbours"].size(), 3u);
  EXPECT_THAT(run("molgraph-info R").out, HasSubstr("3 labels that may be wrong: logS -3500 (row 5, m5), logS"));
  const auto card = nlohmann::json::parse(run("molgraph-info R --json").out);
  EXPECT_EQ(card["suspicious_labels"].size(), 3u);
  EXPECT_EQ(card["holds"]["run.json"], "ids and true values of labels that may be wrong");
  const std::string page = report("R");
  for (const char* piece :
       {"<th scope=\"row\">5</th><td>m5</td><td>training</td><td>logS</td><td>-3,500</td>",
        "<th scope=\"row\">65</th><td>m65</td><td>validation</td>", "Labels of the most similar molecules"})
    EXPECT_NE(page.find(piece), page.npos) << piece;
  const ShellResult stripped = run("molgraph-info R --strip");
  EXPECT_THAT(stripped.out, HasSubstr("removed from R/run.json: ids and true values"));
  EXPECT_EQ(run("grep -rlE -e '-3500|m65' R").out, "");
  EXPECT_FALSE(record("R").contains("suspicious_labels"));
  EXPECT_THAT(run("molgraph-info R").out, Not(HasSubstr("may be wrong")));
  EXPECT_THAT(run("molgraph-info R --strip").out, HasSubstr("contains no data"));
  EXPECT_THAT(train(table({}) + " -o N" + kSets + kModelOnly), Not(HasSubstr("outlier label")));
  EXPECT_FALSE(record("N").contains("suspicious_labels"));
}

TEST_F(LabelClipCli, ClippingChangesTrainingButNotTheLabelsInFiles) {
  const std::string outliers = table({{5, "-3500"}, {65, "900"}, {125, "800"}}), clipped = table({{5, "0"}, {65, "9"}});
  train(outliers + " -o C --clip-labels --domain-labels" + kSets + kModelOnly);
  train(clipped + " -o H" + kSets + kModelOnly);
  train(outliers + " -o P" + kSets + kModelOnly);
  const std::string without_names = report("P");
  EXPECT_NE(without_names.find("<td>m65</td><td>validation</td>"), without_names.npos);
  EXPECT_EQ(without_names.find("m5</td>"), without_names.npos) << "a training molecule";
  expect_same("C/model.safetensors", "H/model.safetensors");
  expect_same("C/metrics.csv", "H/metrics.csv");
  expect_same("C/calibration.json", "H/calibration.json");
  EXPECT_FALSE(scratch.read("C/model.safetensors") == scratch.read("P/model.safetensors"));
  EXPECT_EQ(label_in("C/valid_predictions.csv", "m65"), "900");
  EXPECT_EQ(label_in("H/valid_predictions.csv", "m65"), "9");
  EXPECT_EQ(label_in("C/test_predictions.csv", "m125"), "800");
  EXPECT_FALSE(scratch.read("C/results.csv") == scratch.read("H/results.csv")) << "results use the labels of the table";
  const std::string scored = run("molgraph-score -m C --domain -i " + outliers + " -o -").out;
  EXPECT_THAT(scored, HasSubstr("-3500")) << "the domain contains the labels of the table";
  EXPECT_THAT(scratch.read("C/config.toml"), HasSubstr("clip-labels = true"));
}

TEST_F(LabelClipCli, EachSplitHasItsOwnLimits) {
  // Row 5 is a test molecule of the first split and a training molecule of the second.
  const std::string outlier = table({{5, "-3500"}}), clipped = table({{5, "0"}});
  scratch.write(
      "splits.json",
      R"([{"train": "10-69", "val": "70-129", "test": "0-9"}, {"train": "0-59", "val": "60-119", "test": "120-139"}])");
  const std::string log = train(outlier + " -o C --clip-labels --splits-file splits.json" + kModelOnly);
  EXPECT_EQ(log.find("outlier label"), log.rfind("outlier label")) << "the warning is logged once";
  EXPECT_THAT(log, HasSubstr("'logS' -3,500 (row 5, id m5): "));
  train(clipped + " -o H --splits-file splits.json" + kModelOnly);
  expect_same("C/model_0/model.safetensors", "H/model_0/model.safetensors");
  expect_same("C/model_1/model.safetensors", "H/model_1/model.safetensors");
  EXPECT_EQ(label_in("C/model_0/test_predictions.csv", "m5"), "-3500");
  for (const char* folder : {"C", "C/model_0", "C/model_1"})
    EXPECT_EQ(record(folder)["suspicious_labels"].size(), 1u) << folder;
  for (const char* folder : {"C", "C/model_0", "C/model_1"}) {
    const std::string page = report(folder);
    EXPECT_EQ(page.find("<th scope=\"row\">5</th>"), page.npos)
        << folder << ": in one split, it is a training molecule";
    EXPECT_NE(page.find("1 outlier label is not listed"), page.npos) << folder;
  }
  EXPECT_THAT(run("molgraph-info C --strip").out, HasSubstr("removed from C/model_1/run.json"));
  EXPECT_EQ(run("grep -rl -e -3500 C").out, "");
}

TEST_F(LabelClipCli, EnsemblesAreCheckedOnce) {
  const std::string outlier = table({{5, "-3500"}});
  const std::string log = train(outlier + " -o C --clip-labels --ensemble-size 2 --member-splits" + kSets + kModelOnly);
  EXPECT_EQ(log.find("outlier label"), log.rfind("outlier label"));
  train(table({{5, "0"}}) + " -o H --ensemble-size 2 --member-splits" + kSets + kModelOnly);
  for (const char* model : {"/model_0/model.safetensors", "/model_1/model.safetensors"})
    expect_same(std::string("C") + model, std::string("H") + model);
}

TEST_F(LabelClipCli, PartnersAlwaysTrainOnClippedLabels) {
  // The outlier is in the validation set, and the only epoch is the best one, so the transformer does not change.
  const std::string flags = kSets + kTiny + "--epochs 1 ";
  train(table({{65, "900"}}) + " -o S --blend" + flags);
  train(table({{65, "9"}}) + " -o H --blend" + flags);
  expect_same("S/model.safetensors", "H/model.safetensors");
  expect_same("S/gaussian_process.safetensors", "H/gaussian_process.safetensors");
  if (!xgboost_version().empty()) expect_same("S/trees.safetensors", "H/trees.safetensors");
  // The prediction intervals in the last columns depend on the validation errors and are not compared.
  ASSERT_EQ(run("for r in S H; do cut -d, -f1-4 $r/test_predictions.csv > $r.csv; done").code, 0);
  expect_same("S.csv", "H.csv");
  EXPECT_EQ(label_in("S/valid_predictions.csv", "m65"), "900");
}

TEST_F(LabelClipCli, ScoringUsesThePartnerKeptAfterRejectedRetraining) {
  // Six validation labels are wrong: too many to count as outliers, and far too many for retraining the partners.
  std::map<int, std::string> wrong;
  for (int row = 61; row <= 91; row += 6) wrong[row] = "-7000";
  const std::string log = train(table(wrong) + " -o R --blend" + kSets + kTiny + "--epochs 1 ");
  EXPECT_THAT(log, Not(HasSubstr("outlier label")));
  EXPECT_THAT(log, HasSubstr("Blend: retraining the Gaussian process with the validation set was rejected, because"));
  EXPECT_THAT(log, HasSubstr("the run keeps the version trained without it"));
  EXPECT_THAT(log, Not(HasSubstr("on which they are then trained too")));
  ASSERT_EQ(run("molgraph-score -m R -i R/test_predictions.csv -o scored.csv").code, 0);
  const auto expected = lines_of(scratch.read("R/test_predictions.csv")), scored = lines_of(scratch.read("scored.csv"));
  ASSERT_EQ(scored.size(), expected.size());
  ASSERT_EQ(scored.size(), 21u);
  for (std::size_t i = 1; i < expected.size(); ++i)
    EXPECT_NEAR(std::stod(cells_of(expected[i]).at(3)), std::stod(cells_of(scored[i]).at(6)), 1e-4) << scored[i];
}

TEST_F(LabelClipCli, ClippingNeedsARegressionTarget) {
  const ShellResult classes =
      run("molgraph-train " + table({}) + " -o X --clip-labels --target-columns active" + kSets + kTiny);
  EXPECT_EQ(classes.code, 2);
  EXPECT_THAT(classes.err, HasSubstr("--clip-labels would do nothing: there is no regression target"));
  const ShellResult corpus = run("molgraph-pretrain " + table({}) + " -o X --clip-labels");
  EXPECT_EQ(corpus.code, 2);
  EXPECT_THAT(corpus.err, HasSubstr("--clip-labels"));
  EXPECT_FALSE(scratch.exists("X"));
}

}  // namespace
}  // namespace molgraph::test
