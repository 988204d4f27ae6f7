// Prediction intervals and temperatures, from training to scoring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/load.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 ";
const std::string kNoBaselines = kTiny + "--no-baselines ";

/// 600 chains and rings with numbers that depend on the chain length, and classes.
std::string table(bool with_class) {
  std::string text = with_class ? "smiles,y,kind\n" : "smiles,y\n";
  const char* ends[] = {"O", "N", "F", "c1ccccc1", "C1CC1", "C(=O)O"};
  for (int k = 0; k < 600; ++k) {
    const int length = 1 + k % 50;
    const std::string middle = k / 300 > 0 ? "(C)" : "";
    text += "C" + std::string(static_cast<std::size_t>(length), 'C') + middle + ends[k / 50 % 6] + "," +
            std::to_string(0.1 * length + 0.37 * ((k * 7919) % 11)) +
            (with_class ? (k / 50 % 6 == 3 || k / 50 % 6 == 4 ? ",yes" : ",no") : "") + "\n";
  }
  return text;
}

std::string first_lines(const std::string& text, std::size_t count) {
  std::string first;
  const auto lines = lines_of(text);
  for (std::size_t k = 0; k < count; ++k) first += lines.at(k) + "\n";
  return first;
}

class CalibrationCli : public ::testing::Test {
 protected:
  void SetUp() override { scratch.write("t.csv", table(false)); }
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult train(const std::string& arguments, const std::string& tiny = kNoBaselines) {
    ShellResult result = run("molgraph-train " + arguments + tiny);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  /// The rows of a table, by column name.
  std::vector<std::map<std::string, std::string>> rows(const std::string& file) {
    const auto lines = lines_of(scratch.read(file));
    const auto names = cells_of(lines.at(0));
    std::vector<std::map<std::string, std::string>> all;
    for (std::size_t k = 1; k < lines.size(); ++k) {
      const auto cells = cells_of(lines[k]);
      EXPECT_EQ(cells.size(), names.size()) << lines[k];
      for (std::size_t c = 0; c < names.size(); ++c) all.resize(k), all.back()[names[c]] = cells.at(c);
    }
    return all;
  }
  /// Expects that scoring a run's test set gives the intervals of test_predictions.csv.
  void expect_own_intervals(const std::string& folder) {
    ASSERT_EQ(run("molgraph-score -m " + folder + " -i " + folder +
                  "/test_predictions.csv -s smiles -o own.csv --interval 0.9")
                  .code,
              0);
    for (auto row : rows("own.csv")) {
      EXPECT_NEAR(std::stod(row["y_low"]), std::stod(row["molgraph_y_low"]), 1e-4) << folder;
      EXPECT_NEAR(std::stod(row["y_high"]), std::stod(row["molgraph_y_high"]), 1e-4) << folder;
    }
  }
  /// The test set's values in results.csv, by metric.
  std::map<std::string, double> test_results(const std::string& folder) {
    std::map<std::string, double> values;
    for (auto& row : rows(folder + "/results.csv"))
      if (row["part"] == "test" && !row["value"].empty()) values[row["metric"]] = std::stod(row["value"]);
    return values;
  }

  Scratch scratch;
};

TEST_F(CalibrationCli, TestIntervalsMatchTheResults) {
  const ShellResult trained = train("t.csv -o R", kTiny);
  EXPECT_THAT(trained.err, HasSubstr("approximate, because the best epoch was chosen on the same data"));
  ASSERT_EQ(run("molgraph-score -m R -i R/test_predictions.csv -s smiles -o out.csv --interval 0.9").code, 0);
  double covered = 0, width = 0;
  std::set<int> widths;
  const auto scored = rows("out.csv");
  for (auto row : scored) {
    const double y = std::stod(row["y"]), low = std::stod(row["molgraph_y_pred"]) - std::stod(row["molgraph_y_low"]),
                 high = std::stod(row["molgraph_y_high"]) - std::stod(row["molgraph_y_pred"]);
    EXPECT_NEAR(std::stod(row["y_low"]), std::stod(row["molgraph_y_low"]), 1e-4) << "test_predictions.csv";
    EXPECT_NEAR(std::stod(row["y_high"]), std::stod(row["molgraph_y_high"]), 1e-4);
    EXPECT_NEAR(low, high, 1e-3);
    EXPECT_GT(low, 0);
    covered += y >= std::stod(row["molgraph_y_low"]) && y <= std::stod(row["molgraph_y_high"]);
    width += low + high;
    widths.insert(static_cast<int>(std::round(100 * low)));
  }
  EXPECT_GT(widths.size(), 3u) << "intervals depend on the molecule";
  auto results = test_results("R");
  const auto count = static_cast<double>(scored.size());
  EXPECT_NEAR(results["coverage-90"], covered / count, 1e-6);
  EXPECT_NEAR(results["width-90"], width / count, 1e-3);
  EXPECT_GT(results["coverage-90"], 0.7);
  const std::string info = run("molgraph-info R").out;
  EXPECT_THAT(info, HasSubstr("90 % interval of y +- "));
  EXPECT_THAT(info, HasSubstr("60 labels"));
}

TEST_F(CalibrationCli, ModelWithoutAGaussianProcessHasOneWidth) {
  train("t.csv -o R");
  ASSERT_EQ(run("molgraph-score -m R -i t.csv -o out.csv --interval 0.9").code, 0);
  std::vector<double> errors;
  for (auto row : rows("R/valid_predictions.csv"))
    errors.push_back(std::abs(std::stod(row["y"]) - std::stod(row["y_pred"])));
  std::ranges::sort(errors);
  const double expected = errors.at(static_cast<std::size_t>(std::ceil(61 * 0.9)) - 1);
  for (auto row : rows("out.csv"))
    EXPECT_NEAR((std::stod(row["y_high"]) - std::stod(row["y_low"])) / 2, expected, 1e-3);
}

TEST_F(CalibrationCli, PredictionsAreUnchangedWithoutIntervals) {
  train("t.csv -o R");
  ASSERT_EQ(
      run("molgraph-score -m R -i t.csv -o a.csv && molgraph-score -m R/model.safetensors -i t.csv -o b.csv").code, 0);
  EXPECT_EQ(scratch.read("a.csv"), scratch.read("b.csv"));
  EXPECT_THAT(scratch.read("a.csv"), Not(HasSubstr("y_low")));
}

TEST_F(CalibrationCli, CalibrationSetIsNotUsedForTrainingOrSelection) {
  const ShellResult trained = train("t.csv -o R --calibration-size 0.25", kTiny);
  EXPECT_THAT(trained.err, HasSubstr("360 train, 60 valid, 60 test, 120 calibration"));
  EXPECT_THAT(trained.err, Not(HasSubstr("approximate")));
  std::map<std::string, int> count;
  for (auto row : rows("R/splits.csv")) ++count[row["split"]];
  EXPECT_EQ(count, (std::map<std::string, int>{{"train", 360}, {"valid", 60}, {"test", 60}, {"calibration", 120}}));
  const auto file = nlohmann::json::parse(scratch.read("R/calibration.json"));
  EXPECT_EQ(file["part"], "calibration");
  EXPECT_EQ(file["targets"][0]["labels"], 120);
  EXPECT_GT(file["targets"][0]["offset"], 0);
  // The errors are those of the blend that molgraph-score uses, in units of half the width of the interval. Its
  // partners do not learn the calibration set either.
  ASSERT_EQ(run("molgraph-score -m R -i R/splits.csv -s smiles -o out.csv --interval 0.9").code, 0);
  const auto stored = file["targets"][0]["samples"][0]["errors"].get<std::vector<double>>();
  ASSERT_EQ(stored.size(), 120u);
  const double at_level = stored[static_cast<std::size_t>(std::ceil(121 * 0.9)) - 1];
  const auto labels = rows("t.csv"), scored = rows("out.csv");
  std::vector<double> errors;
  for (std::size_t k = 0; k < scored.size(); ++k)
    if (auto row = scored[k]; row["split"] == "calibration")
      errors.push_back(std::abs(std::stod(labels[k].at("y")) - std::stod(row["y_pred"])) * at_level /
                       (std::stod(row["y_high"]) - std::stod(row["y_pred"])));
  std::ranges::sort(errors);
  ASSERT_EQ(errors.size(), stored.size());
  for (std::size_t k = 0; k < stored.size(); ++k) EXPECT_NEAR(stored[k], errors[k], 1e-4 * (1 + stored[k])) << k;
  EXPECT_THAT(run("molgraph-info R").out, HasSubstr("120 calibration"));
}

TEST_F(CalibrationCli, ProbabilitiesAreScaledByTheTemperature) {
  scratch.write("k.csv", table(true));
  train("k.csv -o R --target-columns kind --lr 0.01 --from none",
        " --epochs 1 --batch-size 16 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-baselines");
  const auto file = nlohmann::json::parse(scratch.read("R/calibration.json"));
  const double temperature = file["targets"][0]["temperature"];
  ASSERT_NE(temperature, 1);
  ASSERT_EQ(run("molgraph-score -m R -i R/test_predictions.csv -s smiles -o on.csv && "
                "molgraph-score -m R -i R/test_predictions.csv -s smiles -o off.csv --no-calibrate")
                .code,
            0);
  const auto test_rows = rows("R/test_predictions.csv"), on = rows("on.csv"), off = rows("off.csv");
  for (std::size_t k = 0; k < test_rows.size(); ++k) {
    const double p = std::stod(on[k].at("molgraph_kind_pred")), raw = std::stod(off[k].at("molgraph_kind_pred"));
    EXPECT_NEAR(p, std::stod(test_rows[k].at("kind_pred")), 1e-5);
    EXPECT_NEAR(std::log(p / (1 - p)) * temperature, std::log(raw / (1 - raw)), 1e-3);
  }
  auto results = test_results("R");
  for (const char* name : {"ece", "ece-uncalibrated", "nll", "nll-uncalibrated"}) EXPECT_TRUE(results.contains(name));
  train("k.csv -o N --target-columns kind --no-calibrate");
  EXPECT_FALSE(scratch.exists("N/calibration.json"));
  EXPECT_FALSE(test_results("N").contains("ece"));
  EXPECT_EQ(run("molgraph-score -m R -i k.csv -o x.csv --interval 0.9").code, 2);  // classes have no interval
}

TEST_F(CalibrationCli, EnsemblesAndFoldsHaveTheirOwnIntervals) {
  train("t.csv -o E --ensemble-size 2");
  const auto ensemble = nlohmann::json::parse(scratch.read("E/calibration.json"));
  EXPECT_GT(ensemble["targets"][0]["offset"], 0);
  ASSERT_EQ(run("molgraph-score -m E -i E/test_predictions.csv -s smiles -o e.csv --interval 0.9").code, 0);
  double covered = 0;
  std::set<double> factors;
  const auto scored = rows("e.csv");
  for (auto row : scored) {
    const double y = std::stod(row["y"]), low = std::stod(row["molgraph_y_low"]),
                 high = std::stod(row["molgraph_y_high"]);
    EXPECT_NEAR(std::stod(row["y_low"]), low, 1e-4);
    covered += y >= low && y <= high;
    const double factor = (high - low) / 2 / (std::stod(row["y_std"]) + ensemble["targets"][0]["offset"].get<double>());
    factors.insert(std::round(factor * 100));
  }
  EXPECT_LE(factors.size(), 3u);  // one factor, apart from the rounding of the cells
  EXPECT_NEAR(test_results("E")["coverage-90"], covered / static_cast<double>(scored.size()), 1e-6);

  const ShellResult trained = train("t.csv -o F --folds 3 --split-sizes 0.6 0.3 0.1");
  EXPECT_THAT(trained.err, HasSubstr("the folds' test sets"));
  EXPECT_THAT(trained.err, Not(HasSubstr("the validation set: y")))
      << "the log does not report the intervals of a single fold";
  const auto folds = nlohmann::json::parse(scratch.read("F/calibration.json"));
  EXPECT_EQ(folds["part"], "folds");
  EXPECT_EQ(folds["targets"][0]["samples"].size(), 3u);
  EXPECT_EQ(folds["targets"][0]["labels"], 600);
  ASSERT_EQ(run("molgraph-score -m F -i t.csv -o f.csv --interval 0.8 --individual").code, 0);
  for (auto row : rows("f.csv")) EXPECT_LT(std::stod(row["y_low"]), std::stod(row["y_high"]));
  EXPECT_TRUE(scratch.exists("F/model_0/calibration.json"));
}

TEST_F(CalibrationCli, MembersWithTheirOwnSplitsCalibrateOnTheCalibrationSet) {
  train("t.csv -o E --ensemble-size 2 --member-splits --calibration-size 0.25");
  EXPECT_GT(nlohmann::json::parse(scratch.read("E/calibration.json"))["targets"][0]["offset"], 0);
  expect_own_intervals("E");
}

TEST_F(CalibrationCli, FoldsOfBlendsUseAbsoluteErrors) {
  train("t.csv -o F --folds 2 --split-sizes 0.5 0.3 0.2", kTiny);
  const auto whole = nlohmann::json::parse(scratch.read("F/calibration.json"));
  EXPECT_EQ(whole["version"], 1);
  EXPECT_FALSE(whole["targets"][0].contains("offset"));
  const auto fold = nlohmann::json::parse(scratch.read("F/model_0/calibration.json"));
  EXPECT_EQ(fold["version"], 2);
  expect_own_intervals("F/model_0");
}

TEST_F(CalibrationCli, OutOfFoldCalibratesOnTrainingAndValidationSets) {
  scratch.write("few.csv", first_lines(table(false), 101));
  const ShellResult trained = train("few.csv -o R --no-blend", kTiny);
  EXPECT_THAT(trained.err, HasSubstr("too few labels for calibration: 5 additional models are trained"));
  EXPECT_THAT(trained.err, HasSubstr("Inner fold 5 of 5"));
  EXPECT_THAT(trained.err, HasSubstr("from the errors on the training and validation sets (out-of-fold)"));
  EXPECT_THAT(scratch.read("R/config.toml"), HasSubstr("\nout-of-fold = 'on'\n"));
  const auto file = nlohmann::json::parse(scratch.read("R/calibration.json"));
  EXPECT_EQ(file["part"], "inner_folds");
  EXPECT_EQ(file["targets"][0]["labels"], 90);
  EXPECT_THAT(scratch.read("R/results.csv"), HasSubstr("\ntrain,80,mae"));
  EXPECT_THAT(scratch.read("R/results.csv"), HasSubstr("\nvalid,90,mae"));
  // The intervals use the errors of valid_predictions.csv.
  std::vector<double> errors;
  for (auto row : rows("R/valid_predictions.csv"))
    errors.push_back(std::abs(std::stod(row["y"]) - std::stod(row["y_pred"])));
  std::ranges::sort(errors);
  const auto stored = file["targets"][0]["samples"][0]["errors"].get<std::vector<double>>();
  ASSERT_EQ(stored.size(), errors.size());
  for (std::size_t k = 0; k < stored.size(); ++k) EXPECT_NEAR(stored[k], errors[k], 1e-4) << k;
  EXPECT_FALSE(scratch.exists("R/inner_0"));
  EXPECT_EQ(run("molgraph-score -m R -i t.csv -o x.csv --interval 0.9").code, 0);
  EXPECT_EQ(run("molgraph-info R").code, 0);
  const std::string results = scratch.read("R/results.csv");
  ASSERT_EQ(run("molgraph-train -o R --resume").code, 0);
  EXPECT_EQ(scratch.read("R/results.csv"), results);
  // The run's own model is the same without out-of-fold calibration.
  const ShellResult without = train("few.csv -o N --no-blend --no-out-of-fold", kTiny);
  EXPECT_THAT(without.err, HasSubstr("(--out-of-fold also uses the training set)"));
  EXPECT_EQ(scratch.read("N/model.safetensors"), scratch.read("R/model.safetensors"));
  EXPECT_FALSE(scratch.exists("N/calibration.json"));
  train("few.csv -o B --out-of-fold", kTiny);  // each fold has its own partners
  expect_own_intervals("B");
  const auto blend = nlohmann::json::parse(scratch.read("B/calibration.json"));
  EXPECT_EQ(blend["part"], "inner_folds");
  EXPECT_GT(blend["targets"][0]["offset"], 0);
  for (const char* conflict : {"--folds 2", "--ensemble-size 2 --member-splits", "--split-sizes 0.8 0 0.2"})
    EXPECT_EQ(run(std::string("molgraph-train few.csv -o X --out-of-fold ") + conflict + kNoBaselines).code, 2)
        << conflict;
}

TEST_F(CalibrationCli, InnerModelEqualsARunOnItsSplit) {
  scratch.write("few.csv", first_lines(table(false), 101));
  train("few.csv -o R --out-of-fold");
  LoadOptions options;
  options.paths = {scratch.path("few.csv")};
  options.inner_folds = 5;
  const LoadedData data = load_data(options);
  ASSERT_EQ(data.inner.size(), 5u);
  const Split& fold = data.inner[3];
  // All rows are valid, so the molecule numbers are row numbers.
  nlohmann::json split = {{"train", fold.train}, {"val", fold.valid}, {"test", fold.test}};
  scratch.write("fold.json", nlohmann::json::array({split}).dump());
  train("few.csv -o F --splits-file fold.json");
  std::map<std::string, std::string> whole;
  for (auto row : rows("R/valid_predictions.csv")) whole[row["smiles"]] = row["y_pred"];
  const auto own = rows("F/valid_predictions.csv");
  ASSERT_EQ(own.size(), fold.valid.size());
  for (auto row : own) EXPECT_EQ(row["y_pred"], whole[row["smiles"]]) << row["smiles"];
}

TEST_F(CalibrationCli, OverlappingTestSetsGiveNoIntervals) {
  nlohmann::json splits;
  const auto add = [&](nlohmann::json& split, const char* part, int begin, int end) {
    for (int row = begin; row < end; ++row) split[part].push_back(row);
  };
  for (const int test : {500, 599}) {  // both test sets contain the last row
    nlohmann::json split;
    add(split, "train", 0, 400);
    add(split, "val", 400, 500);
    add(split, "test", test, 600);
    splits.push_back(split);
  }
  scratch.write("splits.json", splits.dump());
  const ShellResult trained = train("t.csv -o R --splits-file splits.json");
  EXPECT_THAT(trained.err, HasSubstr("No intervals and no temperatures: the test sets of the splits share 1 molecule"));
  EXPECT_FALSE(scratch.exists("R/calibration.json"));
  EXPECT_EQ(run("molgraph-score -m R -i t.csv -o x.csv --interval 0.9").code, 2);
  EXPECT_EQ(run("molgraph-score -m R/model_0 -i t.csv -o x.csv --interval 0.9").code, 0);
}

TEST_F(CalibrationCli, MembersWithTheirOwnSplitsHaveNoTemperature) {
  scratch.write("k.csv", table(true));
  const std::string settings =
      " --epochs 1 --batch-size 16 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-baselines "
      "--target-columns kind --lr 0.01 --from none --ensemble-size 3";
  const ShellResult pooled = train("k.csv -o P --member-splits", settings);
  EXPECT_THAT(pooled.err,
              HasSubstr("Probabilities are not calibrated: each validation molecule is predicted by one model"));
  EXPECT_FALSE(scratch.exists("P/calibration.json"));
}

TEST_F(CalibrationCli, RejectsInvalidRequestsWithReasons) {
  scratch.write("few.csv", table(false).substr(0, 3000));
  std::string fewer;
  for (const std::string& line : lines_of(table(false)))
    if (std::ranges::count(fewer, '\n') < 46) fewer += line + "\n";
  scratch.write("fewer.csv", fewer);
  const ShellResult folds = train("fewer.csv -o K --folds 3 --split-sizes 0.8 0.1 0.1", kTiny);
  for (const char* message : {"Too few labels", "On the validation set, a simple method is better"}) {
    const auto first = folds.err.find(message);
    ASSERT_NE(first, std::string::npos) << folds.err;
    EXPECT_EQ(folds.err.find(message, first + 1), std::string::npos) << folds.err;
  }
  const ShellResult small = run("molgraph-train few.csv -o G --calibration-size 0.1" + kNoBaselines);
  EXPECT_EQ(small.code, 2);
  EXPECT_THAT(small.err,
              HasSubstr("--calibration-size leaves fewer than 50 labels for an interval or a temperature: y ("));
  EXPECT_THAT(small.err, HasSubstr("; give at least 0."));
  scratch.write("hopeless.csv", first_lines(table(false), 61));  // 48 training labels
  const ShellResult hopeless = run("molgraph-train hopeless.csv -o G --calibration-size 0.5" + kNoBaselines);
  EXPECT_EQ(hopeless.code, 2);
  EXPECT_THAT(hopeless.err, HasSubstr("; the table has too few labels"));
  const ShellResult few = train("few.csv -o S --no-out-of-fold");
  EXPECT_THAT(few.err, HasSubstr("Too few labels in the validation set"));
  EXPECT_FALSE(scratch.exists("S/calibration.json"));
  const ShellResult none = run("molgraph-score -m S -i t.csv -o x.csv --interval 0.9");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("has no interval"));
  EXPECT_FALSE(scratch.exists("x.csv"));
  train("t.csv -o R");
  for (const char* bad : {"--interval 0.99", "--interval 1.5", "--interval 0"})  // 60 labels; out of range
    EXPECT_EQ(run(std::string("molgraph-score -m R -i t.csv -o x.csv ") + bad).code, 2) << bad;
  EXPECT_EQ(run("molgraph-score -m R R -i t.csv -o x.csv --interval 0.9").code, 2);
  EXPECT_EQ(run("molgraph-score -m R/model.safetensors -i t.csv -o x.csv --interval 0.9").code, 2);
  EXPECT_EQ(run("molgraph-train t.csv -o G --calibration-size 0.2 --no-calibrate" + kNoBaselines).code, 2);
  EXPECT_EQ(run("molgraph-train t.csv -o G --calibration-size 0.2 --folds 3" + kNoBaselines).code, 2);
  EXPECT_EQ(run("molgraph-train t.csv -o G --calibration-size 0.95" + kNoBaselines).code, 2);
  EXPECT_FALSE(scratch.exists("G"));
  scratch.run(bin_dir(), "rm R/calibration.json");
  const ShellResult lost = run("molgraph-score -m R -i t.csv -o x.csv");
  EXPECT_EQ(lost.code, 4) << lost.err;
  EXPECT_THAT(lost.err, HasSubstr("calibration.json is missing"));
}

TEST_F(CalibrationCli, InvalidRowsHaveNoInterval) {
  train("t.csv -o R");
  scratch.write("in.csv", "smiles\nCCO\nnot one\n");
  ASSERT_EQ(run("molgraph-score -m R -i in.csv -o out.jsonl --interval 0.9").code, 0);
  const auto lines = lines_of(scratch.read("out.jsonl"));
  EXPECT_TRUE(nlohmann::json::parse(lines.at(0))["y_low"].is_number());
  EXPECT_TRUE(nlohmann::json::parse(lines.at(1))["y_low"].is_null());
}

}  // namespace
}  // namespace molgraph::test
