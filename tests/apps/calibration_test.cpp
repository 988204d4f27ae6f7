// Prediction intervals and temperatures: hand calculations and simulations.
#include "apps/scoring/calibration.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "apps/scoring/calibrated_prediction.hpp"
#include "apps/training/run/calibration_fit.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Task task_of(TaskKind kind, std::vector<std::string> names, int classes = 0) {
  Task task;
  task.kind = kind;
  task.classes = classes;
  task.units.resize(names.size());
  task.names = std::move(names);
  return task;
}

TargetCalibration regression_target(std::vector<std::vector<double>> errors) {
  TargetCalibration target{.name = "y"};
  for (auto& one : errors) target.errors.push_back(error_sample(std::move(one)));
  return target;
}

TEST(Interval, HalfWidthIsTheErrorAtTheRankOfTheLevel) {
  const TargetCalibration target = regression_target({{5, 1, 4, 2, 3, 9, 8, 7, 6}});  // n = 9
  const Interval nine = interval_of(target, 0.9, 10, 0, {});                          // ceil(10 * 0.9) = 9
  EXPECT_EQ(nine.low, 1);
  EXPECT_EQ(nine.high, 19);
  const Interval half = interval_of(target, 0.5, 10, 0, {});  // rank 5
  EXPECT_EQ(half.low, 5);
  EXPECT_EQ(half.high, 15);
  EXPECT_TRUE(target.has_interval(0.9));
  EXPECT_FALSE(target.has_interval(0.91));  // rank 10 of 9
  EXPECT_TRUE(std::isnan(interval_of(target, 0.91, 10, 0, {}).low));
  EXPECT_FALSE(regression_target({}).has_interval(0.5));
}

TEST(Interval, EnsembleWidthScalesWithTheDeviation) {
  TargetCalibration target = regression_target({{1, 2, 3, 4, 5, 6, 7, 8, 9}});
  target.offset = 0.5;
  const Interval interval = interval_of(target, 0.9, 10, 1.5, {});
  EXPECT_EQ(interval.low, 10 - 9 * 2);
  EXPECT_EQ(interval.high, 10 + 9 * 2);
}

/// CV+ as in its paper: sorted sums and differences of all molecules.
Interval cv_plus(const std::vector<std::vector<double>>& errors, const std::vector<double>& members, double level) {
  std::vector<double> low, high;
  for (std::size_t k = 0; k < errors.size(); ++k)
    for (const double error : errors[k]) {
      low.push_back(members[k] - error);
      high.push_back(members[k] + error);
    }
  std::ranges::sort(low);
  std::ranges::sort(high);
  const auto n = static_cast<double>(low.size());
  const auto rank = static_cast<std::size_t>(std::ceil((n + 1) * level - 1e-9));
  return {low[low.size() - rank], high[rank - 1]};
}

TEST(Interval, FoldsGiveCvPlus) {
  std::mt19937 random(3);
  std::exponential_distribution<double> error(1);
  std::normal_distribution<double> shift;
  for (const std::vector<std::size_t>& sizes :
       std::vector<std::vector<std::size_t>>{{30, 30, 31}, {60, 5}, {40, 0, 20}}) {
    std::vector<std::vector<double>> errors;
    std::vector<double> members;
    for (const std::size_t size : sizes) {
      std::generate_n(std::back_inserter(errors.emplace_back()), size, [&] { return error(random); });
      members.push_back(20 + shift(random));
    }
    for (const double level : {0.5, 0.8, 0.95}) {
      const Interval expected = cv_plus(errors, members, level);
      const Interval interval = interval_of(regression_target(errors), level, 20, 0, members);
      EXPECT_NEAR(interval.low, expected.low, 1e-9) << level;
      EXPECT_NEAR(interval.high, expected.high, 1e-9) << level;
    }
  }
}

TEST(Interval, SubsetOfManyErrorsIsNeverNarrower) {
  std::mt19937 random(4);
  std::exponential_distribution<double> error(1);
  std::vector<double> all(12'345);
  for (double& one : all) one = error(random);
  const TargetCalibration target = regression_target({all});
  EXPECT_EQ(target.errors[0].count, 12'345);
  std::ranges::sort(all);
  EXPECT_EQ(target.errors[0].errors.back(), all.back());
  for (const double level : {0.5, 0.777, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(12'346 * level - 1e-9));
    const double width = interval_of(target, level, 0, 0, {}).high;
    std::size_t k = 0;  // the first stored error of at least this rank; error k has rank ceil((k + 1) n / 2,000)
    while (((k + 1) * all.size() + 1999) / 2000 < rank) ++k;
    EXPECT_EQ(width, all[((k + 1) * all.size() + 1999) / 2000 - 1]) << level;
  }
}

TEST(Interval, CoverageMatchesTheLevel) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise;
  const Task task = task_of(TaskKind::regression, {"y"});
  int covered = 0, all = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    PredictedRows rows;
    for (int i = 0; i < 60; ++i) rows.predictions.push_back(0), rows.labels.push_back(noise(random));
    const Calibration made = fit_calibration(task, CalibrationPart::calibration, {rows});
    const Interval interval = interval_of(made.targets[0], 0.8, 0, 0, {});
    for (int i = 0; i < 50; ++i, ++all) covered += std::abs(noise(random)) <= interval.high;
  }
  // The mean coverage is between level and level + 1 / (n + 1). 200 repeats with a deviation of 0.05 or more give
  // 0.8 +- 0.02.
  EXPECT_NEAR(covered / static_cast<double>(all), 0.805, 0.015);
}

TEST(Temperature, IsRecovered) {
  std::mt19937 random(6);
  std::normal_distribution<double> logit(0, 2);
  std::uniform_real_distribution<double> chance;
  PredictedRows rows;
  for (int i = 0; i < 20'000; ++i) {
    const double z = logit(random);
    rows.predictions.push_back(1 / (1 + std::exp(-2.5 * z)));  // overconfident by a factor of 2.5
    rows.labels.push_back(chance(random) < 1 / (1 + std::exp(-z)));
  }
  const Calibration made = fit_calibration(task_of(TaskKind::binary, {"y"}), CalibrationPart::valid, {rows});
  EXPECT_NEAR(made.targets[0].temperature, 2.5, 0.08);
  const auto results = calibration_results(made, rows);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].first, "ece-uncalibrated");
  EXPECT_GT(results[0].second, 0.05);
  EXPECT_LT(results[1].second, 0.015);
  EXPECT_LT(results[3].second, results[2].second);
}

TEST(Temperature, IsRecoveredForSeveralClasses) {
  std::mt19937 random(7);
  std::normal_distribution<double> logit(0, 2);
  PredictedRows rows;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<double> z{logit(random), logit(random), logit(random)}, p;
    double sum = 0, overconfident_sum = 0;
    for (const double one : z) p.push_back(std::exp(one)), sum += p.back(), overconfident_sum += std::exp(one / 0.6);
    for (std::size_t c = 0; c < 3; ++c) rows.predictions.push_back(std::exp(z[c] / 0.6) / overconfident_sum);
    std::discrete_distribution<int> draw(p.begin(), p.end());
    rows.labels.push_back(draw(random));
  }
  const Calibration made = fit_calibration(task_of(TaskKind::multiclass, {"y"}, 3), CalibrationPart::valid, {rows});
  EXPECT_NEAR(made.targets[0].temperature, 1 / 0.6, 0.05);
  double row[] = {0.7, 0.2, 0.1};
  apply_temperature(made.targets[0], row);
  EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-12);
  EXPECT_LT(row[0], 0.7);
  EXPECT_GT(row[1], row[2]);
}

TEST(Temperature, SeparableSetUsesPlattsTargets) {
  // 25 labels of each class, each predicted with odds of 19. The targets are 26/27 (odds of 26), not 1.
  PredictedRows two, three;
  for (int i = 0; i < 50; ++i) two.predictions.push_back(i % 2 == 0 ? 0.05 : 0.95), two.labels.push_back(i % 2);
  const Calibration of_two = fit_calibration(task_of(TaskKind::binary, {"y"}), CalibrationPart::valid, {two});
  EXPECT_NEAR(of_two.targets[0].temperature, std::log(19) / std::log(26), 1e-3);
  // 20 labels of each of three classes. The targets are 21/23, and 1/23 for each other class.
  for (int i = 0; i < 60; ++i) {
    for (int c = 0; c < 3; ++c) three.predictions.push_back(c == i % 3 ? 0.8 : 0.1);
    three.labels.push_back(i % 3);
  }
  const Task classes = task_of(TaskKind::multiclass, {"y"}, 3);
  const Calibration of_three = fit_calibration(classes, CalibrationPart::valid, {three});
  EXPECT_NEAR(of_three.targets[0].temperature, std::log(8) / std::log(21), 1e-3);
  EXPECT_EQ(fit_calibration(classes, CalibrationPart::valid, {three}, false).targets[0].temperature, 1);
}

TEST(Temperature, FoldsScaleEachMember) {
  Calibration calibration{.part = CalibrationPart::folds, .members = 2};
  calibration.targets.push_back({.name = "y", .kind = TaskKind::binary, .temperature = 2});
  Prediction row{.members = {{0.9}, {0.5}}};
  summarise_members(row);
  Prediction of_mean = row, raw = row;
  calibrate(calibration, true, 0, {}, row);
  EXPECT_NEAR(row.values[0], (0.75 + 0.5) / 2, 1e-12);  // odds 9 become 3
  EXPECT_EQ(row.members, raw.members);
  calibration.part = CalibrationPart::valid;  // an ensemble scales the mean, 0.7
  calibrate(calibration, true, 0, {}, of_mean);
  const double odds = std::sqrt(0.7 / 0.3);
  EXPECT_NEAR(of_mean.values[0], odds / (1 + odds), 1e-12);
  calibrate(calibration, false, 0, {}, raw);
  EXPECT_NEAR(raw.values[0], 0.7, 1e-12);
}

TEST(Temperature, MatchesHandCalculationAndAvoidsZeroAndOne) {
  TargetCalibration target{.name = "y", .kind = TaskKind::binary, .temperature = 2};
  double p = 0.8;  // odds 4 become 2
  apply_temperature(target, &p);
  EXPECT_NEAR(p, 2.0 / 3, 1e-12);
  for (double end : {0.0, 1.0}) {
    apply_temperature(target, &end);
    EXPECT_TRUE(end > 0 && end < 1);
  }
}

TEST(Calibration, HandlesMissingAndTooFewLabels) {
  Task task = task_of(TaskKind::mixed, {"a", "b", "c"});
  task.kinds = {TaskKind::regression, TaskKind::binary, TaskKind::regression};
  PredictedRows rows;
  for (int i = 0; i < 100; ++i) {
    rows.predictions.insert(rows.predictions.end(), {1.0 * i, 0.9, 5});
    rows.difficulty.insert(rows.difficulty.end(), {0.5, 0.1, 0});
    rows.labels.insert(rows.labels.end(), {i + (i % 2 == 0 ? 2.0 : -2.0), i % 2 == 0 ? 1.0 : 0.0, i < 49 ? 5.0 : kNaN});
  }
  const Calibration made = fit_calibration(task, CalibrationPart::valid, {rows});
  EXPECT_EQ(made.targets[0].labels, 100);
  EXPECT_EQ(made.targets[0].offset, 0.5);
  EXPECT_EQ(made.targets[0].errors[0].errors, std::vector<double>(100, 2.0));  // 2 / (0.5 + 0.5)
  EXPECT_NEAR(made.targets[1].temperature, 10, 1e-3);  // predicts 0.9 where 0.5 is true: the upper limit
  EXPECT_EQ(made.targets[2].labels, 49);
  EXPECT_FALSE(made.targets[2].has_interval(0.5));
  const auto notes = calibration_notes(made, true);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find("c (49) (--out-of-fold"), std::string::npos) << notes[0];
  EXPECT_EQ(calibration_notes(made, false)[0].find("--out-of-fold"), std::string::npos) << "the option would fail";
  EXPECT_EQ(calibration_notes(made, true, false).size(), 2u) << "without the class target";
  // Coverage and width are those of target "a": +- 2 (0.5 + 0.5).
  const auto results = calibration_results(made, rows);
  EXPECT_EQ(results[0], (std::pair<std::string, double>{"coverage-90", 1.0}));
  EXPECT_EQ(results[1], (std::pair<std::string, double>{"width-90", 4.0}));
}

TEST(Calibration, NoTemperatureForAChanceImprovement) {
  // The prediction is 0.7; 72, then 90 of 100 labels are 1. The best temperature gains 0.2, then 2.9 standard errors.
  for (const int positives : {72, 90}) {
    PredictedRows rows;
    for (int i = 0; i < 100; ++i) rows.predictions.push_back(0.7), rows.labels.push_back(i < positives);
    const Calibration made = fit_calibration(task_of(TaskKind::binary, {"y"}), CalibrationPart::valid, {rows});
    EXPECT_EQ(made.targets[0].temperature == 1, positives == 72) << made.targets[0].temperature;
    EXPECT_NE(calibration_notes(made, true)[0].find(positives == 72 ? "Probabilities are not scaled" : "Temperatures"),
              std::string::npos);
  }
}

TEST(Calibration, SingleClassGivesNoTemperature) {
  PredictedRows rows;
  for (int i = 0; i < 80; ++i) rows.predictions.push_back(0.6), rows.labels.push_back(1);
  const Calibration made = fit_calibration(task_of(TaskKind::binary, {"y"}), CalibrationPart::valid, {rows});
  EXPECT_EQ(made.targets[0].temperature, 1);
  EXPECT_FALSE(has_effect(made));
}

TEST(Calibration, InvalidRowStaysEmpty) {
  Calibration calibration;
  calibration.targets.push_back({.name = "y", .kind = TaskKind::multiclass, .outputs = 2, .temperature = 2});
  Prediction row{.status = RowStatus::invalid_smiles, .values = {kNaN, kNaN}};
  calibrate(calibration, true, 0.9, {}, row);
  for (const double value : {row.values[0], row.values[1], row.low[0], row.high[1]}) EXPECT_TRUE(std::isnan(value));
}

TEST(Calibration, IntervalBeyondFloatRangeIsNotFinite) {
  Calibration calibration;
  calibration.targets.push_back(regression_target({{1, 2, 3, 4, 5, 6, 7, 8, 1e300}}));
  Prediction row{.values = {5}};
  calibrate(calibration, true, 0.5, {}, row);
  EXPECT_EQ(row.status, RowStatus::ok);
  EXPECT_EQ(row.high[0], 10);
  calibrate(calibration, true, 0.9, {}, row);
  EXPECT_EQ(row.status, RowStatus::not_finite);
  for (const double value : {row.values[0], row.low[0], row.high[0]}) EXPECT_TRUE(std::isnan(value));
}

TEST(Calibration, ExpectedErrorMatchesHandCalculation) {
  // Bin 0.6 .. 0.7: predicted 1.3 of 2, actual 1. Bin 0.9 .. 1: predicted 0.95 + 1 of 2, actual 2. (0.3 + 0.05) / 4.
  EXPECT_NEAR(expected_calibration_error({0.64, 0.66, 0.95, 1.0}, {1, 0, 1, 1}), 0.35 / 4, 1e-12);
}

TEST(Calibration, OffsetCanComeFromOtherMolecules) {
  PredictedRows rows;
  for (int i = 0; i < 60; ++i) {
    rows.predictions.insert(rows.predictions.end(), {0, 0});
    rows.difficulty.insert(rows.difficulty.end(), {2, 3});
    rows.labels.insert(rows.labels.end(), {6, i < 50 ? 12 : kNaN});
  }
  const Calibration made = fit_calibration(task_of(TaskKind::regression, {"y", "z"}), CalibrationPart::calibration,
                                           {rows}, true, {0.5, 4, 1.5, 2});
  EXPECT_EQ(made.targets[0].offset, 1);
  EXPECT_EQ(made.targets[0].errors[0].errors, std::vector<double>(60, 2.0));  // 6 / (2 + 1)
  EXPECT_EQ(made.targets[1].offset, 3);
  EXPECT_EQ(made.targets[1].errors[0].errors, std::vector<double>(50, 2.0));  // 12 / (3 + 3)
}

TEST(Calibration, WidthFollowsTheDifficulty) {
  Calibration calibration;
  calibration.targets.push_back(regression_target({{1, 2, 3, 4, 5, 6, 7, 8, 9}}));
  calibration.targets[0].offset = 0.5;
  Prediction row{.values = {10}};
  calibrate(calibration, true, 0.9, std::vector{1.5}, row);
  EXPECT_EQ(row.low[0], 10 - 9 * 2);
  EXPECT_EQ(row.high[0], 10 + 9 * 2);
}

TEST(Calibration, DifficultyRequiresAProcess) {
  std::optional<Calibration> calibration = Calibration{};
  calibration->targets.push_back(regression_target({{1, 2, 3}}));
  EXPECT_NO_THROW(check_difficulty(calibration, {"R"}, false));
  calibration->targets[0].offset = 0.5;
  EXPECT_NO_THROW(check_difficulty(calibration, {"R"}, true));
  EXPECT_THROW(check_difficulty(calibration, {"R"}, false), FileError);
  calibration->members = 2;  // the offset belongs to the ensemble's standard deviation
  EXPECT_NO_THROW(check_difficulty(calibration, {"R"}, false));
}

class CalibrationFile : public testing::Test {
 protected:
  void SetUp() override {
    Calibration calibration{.part = CalibrationPart::folds, .members = 2};
    calibration.targets.push_back(regression_target({{0.1, 0.3}, {0.2}}));
    calibration.targets[0].labels = 3;
    write_calibration(path, calibration);
  }
  void TearDown() override { std::filesystem::remove(path); }
  void replace(const std::string& from, const std::string& to) const {
    std::ifstream in(path);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    std::ofstream(path) << text.replace(at, from.size(), to);
  }
  std::string problem() const {
    try {
      (void)read_calibration(path, task);
    } catch (const FileError& error) {
      return error.what();
    }
    return {};
  }

  std::string path = testing::TempDir() + "calibration_" + std::to_string(::getpid()) + ".json";
  Task task = task_of(TaskKind::regression, {"y"});
};

TEST_F(CalibrationFile, IsReadAsWritten) {
  const Calibration read = read_calibration(path, task);
  EXPECT_EQ(read.part, CalibrationPart::folds);
  EXPECT_EQ(read.members, 2);
  ASSERT_EQ(read.targets[0].errors.size(), 2u);
  EXPECT_EQ(read.targets[0].errors[0].errors, (std::vector<double>{0.1, 0.3}));
  EXPECT_EQ(read.targets[0].labels, 3);
}

TEST_F(CalibrationFile, DifficultyHasItsOwnVersion) {  // earlier programs reject it
  const auto version = [&](std::int64_t members, double offset) {
    Calibration calibration{.members = members};
    calibration.targets.push_back(regression_target({{0.1, 0.3}}));
    calibration.targets[0].offset = offset;
    write_calibration(path, calibration);
    EXPECT_EQ(read_calibration(path, task).by_difficulty(), members == 1 && offset > 0);
    return nlohmann::json::parse(read_file(path)).at("version").get<int>();
  };
  EXPECT_EQ(version(1, 0), 1);
  EXPECT_EQ(version(1, 0.5), 2);
  EXPECT_EQ(version(2, 0.5), 1);
}

TEST_F(CalibrationFile, FailsIfDamagedOrOfAnotherModel) {
  task.names = {"z"};
  EXPECT_NE(problem().find("other targets"), std::string::npos);
  task.names = {"y"};
  const std::vector<std::pair<std::string, std::string>> damages{{"\"version\":1", "\"version\":3"},
                                                                 {"folds", "moon"},
                                                                 {"0.3", "-0.3"},
                                                                 {"\"members\":2", "\"members\":3"},
                                                                 {"\"members\":2", "\"members\":9223372036854775807"},
                                                                 {"\"members\":2", "\"members\":2.5"},
                                                                 {"\"count\":2", "\"count\":1"},
                                                                 {"{", ""}};
  for (const auto& [from, to] : damages) {
    SetUp();
    replace(from, to);
    EXPECT_NE(problem().find(path), std::string::npos) << from;
  }
}

}  // namespace
}  // namespace molgraph
