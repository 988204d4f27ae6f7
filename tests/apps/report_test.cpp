// The numbers of the report match SciPy, scikit-learn and hand calculations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "apps/report/html.hpp"
#include "apps/report/judged_errors.hpp"
#include "apps/report/report_json.hpp"
#include "apps/report/run_tables.hpp"
#include "apps/report/similarity.hpp"
#include "apps/report/statistics.hpp"
#include "apps/report/svg_plot.hpp"
#include "apps/report/target_lines.hpp"
#include "apps/report/target_measures.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/drawing.hpp"
#include "featurize/smiles/smiles.hpp"
#include "tests/apps/report_fixture.hpp"
#include "tests/apps/shell.hpp"
#include "tests/golden/statistics.hpp"
#include "tests/support/html_check.hpp"

namespace molgraph {
namespace {

using test::count;
using test::facts_of;
using test::kNaN;
using test::task_of;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Rounding errors of sums of 60 numbers in another order.
constexpr double kClose = 1e-12;

double at(const Estimates& of, Measure measure) { return of[static_cast<std::size_t>(measure)].value; }

/// The samples of tests/golden/make_statistics.py.
struct Samples {
  std::vector<double> label, value, truth, score, classes, probabilities;

  Samples() {
    const auto fraction = [](int i, double step) { return std::fmod(i * step, 1.0); };
    for (int i = 1; i <= 60; ++i) {
      label.push_back(std::nearbyint(10 * fraction(i, 0.6180339887498949)) / 2);
      const double raw = label.back() + 3 * (fraction(i, 0.41421356237309515) - 0.5);
      value.push_back(std::nearbyint(raw * 4) / 4);
      truth.push_back(fraction(i, 0.7320508075688772) > 0.6 ? 1 : 0);
      const double raw_score = std::clamp(0.5 * truth.back() + 0.6 * fraction(i, 0.23606797749978969), 0.0, 1.0);
      score.push_back(std::nearbyint(raw_score * 10) / 10);
      classes.push_back(std::floor(3 * fraction(i, 0.7320508075688772)));
      double row[3] = {fraction(i, 0.23606797749978969), fraction(i, 0.41421356237309515),
                       fraction(i, 0.6180339887498949)};
      row[static_cast<int>(classes.back())] += 0.5;
      for (const double p : row) probabilities.push_back(p / (row[0] + row[1] + row[2]));
    }
  }
};

TEST(LearningCurve, MarksTheBestEpochOfEachMetric) {
  const test::Scratch scratch;
  const auto best_of = [&](const std::string& columns, const std::string& before) {
    const std::string first = "1,9,0.1,1," + before + "0.9\n", second = "2,18,0.1,1," + before + "0.5\n";
    scratch.write("m.csv", "epoch,step,lr,train_loss," + columns + "\n" + first + second);
    return read_curve(scratch.path("m.csv")).best;
  };
  for (const std::string error : {"mae", "rmse", "relative-mae", "relative-rmse", "loss"})
    EXPECT_EQ(best_of("valid_" + error, ""), 1) << error;
  for (const std::string score : {"r2", "roc-auc", "ap", "accuracy"}) EXPECT_EQ(best_of("valid_" + score, ""), 0);
  EXPECT_EQ(best_of("valid_roc-auc,valid_loss", ","), 1) << "the loss selects";
}

TEST(Statistics, MetricsMatchSciPyAndScikitLearn) {
  const Samples s;
  const Measured numbers = measure(task_of(TaskKind::regression), s.value, s.label, {.resamples = 0});
  EXPECT_NEAR(at(numbers.mean, Measure::mae), test::kMae, kClose);
  EXPECT_NEAR(at(numbers.mean, Measure::rmse), test::kRmse, kClose);
  EXPECT_NEAR(at(numbers.mean, Measure::r2), test::kR2, kClose);
  EXPECT_NEAR(at(numbers.mean, Measure::pearson), test::kPearson, kClose);
  EXPECT_NEAR(at(numbers.mean, Measure::spearman), test::kSpearman, kClose);
  EXPECT_NEAR(at(numbers.mean, Measure::kendall), test::kKendall, kClose);
  const Measured two = measure(task_of(TaskKind::binary), s.score, s.truth, {.resamples = 0});
  EXPECT_NEAR(at(two.mean, Measure::roc_auc), test::kRocAuc, kClose);
  EXPECT_NEAR(at(two.mean, Measure::pr_auc), test::kPrAuc, kClose);
  EXPECT_NEAR(at(two.mean, Measure::mcc), test::kMcc, kClose);
  EXPECT_NEAR(at(two.mean, Measure::brier), test::kBrier, kClose);
  const Measured classes = measure(task_of(TaskKind::multiclass), s.probabilities, s.classes, {.resamples = 0});
  EXPECT_NEAR(at(classes.mean, Measure::mcc), test::kClassesMcc, kClose);
  EXPECT_NEAR(at(classes.mean, Measure::accuracy), test::kClassesAccuracy, kClose);
  EXPECT_NEAR(at(classes.mean, Measure::brier), test::kClassesBrier, kClose);
}

TEST(Statistics, MoleculeDrawnTwiceCountsTwice) {
  const Samples s;
  std::mt19937 random(7);
  std::vector<std::uint32_t> weight(60);
  for (std::uint32_t& w : weight) w = random() % 4;
  const auto drawn = [&](const std::vector<double>& from, std::size_t width) {
    std::vector<double> all;
    for (std::size_t i = 0; i < weight.size(); ++i)
      for (std::uint32_t k = 0; k < weight[i]; ++k)
        all.insert(all.end(), from.begin() + static_cast<std::ptrdiff_t>(i * width),
                   from.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    return all;
  };
  const auto check = [&](TaskKind kind, const std::vector<double>& x, const std::vector<double>& y, std::size_t width) {
    TargetMeasures::Scratch scratch;
    const MeasureValues weighted = TargetMeasures(task_of(kind), 0, x, y).evaluate(weight.data(), scratch);
    const Measured whole = measure(task_of(kind), drawn(x, width), drawn(y, 1), {.resamples = 0});
    for (const Measure m : measures_of(kind))
      EXPECT_NEAR(weighted[static_cast<std::size_t>(m)], at(whole.mean, m), kClose) << title_of(m);
  };
  check(TaskKind::regression, s.value, s.label, 1);
  check(TaskKind::binary, s.score, s.truth, 1);
  check(TaskKind::multiclass, s.probabilities, s.classes, 3);
}

TEST(Statistics, UndefinedMetricsAreNaN) {
  const Task two = task_of(TaskKind::binary, {"a", "b"});
  const Measured found = measure(two, {0.1, 0.9, 0.8, 0.2, 0.3, 0.4}, {0, 1, 1, 1, 0, kNaN}, {.resamples = 0});
  EXPECT_EQ(found.labels, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(found.positives, (std::vector<std::int64_t>{1, 2}));
  EXPECT_TRUE(std::isnan(at(found.targets[1], Measure::roc_auc)));
  EXPECT_FALSE(std::isnan(at(found.targets[1], Measure::brier)));
  EXPECT_EQ(at(found.mean, Measure::roc_auc), at(found.targets[0], Measure::roc_auc));
  const Measured constant = measure(task_of(TaskKind::regression), {1, 2, 3}, {4, 4, 4}, {.resamples = 0});
  EXPECT_EQ(at(constant.mean, Measure::mae), 2);
  EXPECT_TRUE(std::isnan(at(constant.mean, Measure::r2)));
  EXPECT_TRUE(std::isnan(at(constant.mean, Measure::kendall)));
  const Measured pair = measure(task_of(TaskKind::regression), {1, 2}, {1, 3}, {.resamples = 0});
  EXPECT_FALSE(std::isnan(at(pair.mean, Measure::r2)));
  for (const Measure correlation : {Measure::pearson, Measure::spearman, Measure::kendall})
    EXPECT_TRUE(std::isnan(at(pair.mean, correlation))) << title_of(correlation);
  const Measured broken = measure(task_of(TaskKind::regression), {1, kNaN}, {1, 2}, {.resamples = 0});
  EXPECT_TRUE(std::isnan(at(broken.mean, Measure::mae)));
  EXPECT_TRUE(std::isnan(at(measure(task_of(TaskKind::regression), {}, {}, {}).mean, Measure::mae)));
}

TEST(Statistics, IntervalsMatchTheStandardError) {
  // The standard error of the mean of |error| over n numbers is deviation / sqrt(n).
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> labels, predictions;
  double square = 0;
  constexpr int n = 1000;
  for (int i = 0; i < n; ++i) {
    labels.push_back(normal(random));
    predictions.push_back(labels.back() + normal(random));
  }
  const Measured found = measure(task_of(TaskKind::regression), predictions, labels, {.seed = 5, .threads = 1});
  const Estimate& mae = found.mean[static_cast<std::size_t>(Measure::mae)];
  for (int i = 0; i < n; ++i) square += std::pow(std::abs(predictions[i] - labels[i]) - mae.value, 2) / n;
  const double standard_error = std::sqrt(square / n);
  EXPECT_EQ(found.resamples, 1000);
  EXPECT_NEAR(mae.low, mae.value - 1.96 * standard_error, 0.3 * standard_error);
  EXPECT_NEAR(mae.high, mae.value + 1.96 * standard_error, 0.3 * standard_error);
  const Measured again = measure(task_of(TaskKind::regression), predictions, labels, {.seed = 5, .threads = 2});
  for (const Measure m : measures_of(TaskKind::regression)) {
    const auto k = static_cast<std::size_t>(m);
    EXPECT_EQ(found.mean[k].low, again.mean[k].low) << title_of(m);  // for any number of threads
    EXPECT_LT(found.mean[k].low, found.mean[k].value) << title_of(m);
    EXPECT_GT(found.mean[k].high, found.mean[k].value) << title_of(m);
  }
  const Measured other = measure(task_of(TaskKind::regression), predictions, labels, {.seed = 6});
  EXPECT_NE(found.mean[0].low, other.mean[0].low);
}

TEST(Statistics, FewMoleculesHaveNoInterval) {
  std::vector<double> values(kMinIntervalMolecules - 1);
  std::iota(values.begin(), values.end(), 0.0);
  EXPECT_EQ(measure(task_of(TaskKind::regression), values, values, {}).resamples, 0);
  values.push_back(1);
  EXPECT_EQ(measure(task_of(TaskKind::regression), values, values, {}).resamples, 1000);
}

TEST(Statistics, PercentilesAndSharesMatchKnownValues) {
  EXPECT_EQ(percentile({1, 2, 4}, 0.25), 1.5);
  EXPECT_EQ(percentile({1, 2, 4}, 1), 4);
  EXPECT_EQ(percentile({3}, 0.7), 3);
  const Estimate share = wilson(8, 10);  // statsmodels: proportion_confint(8, 10, method="wilson")
  EXPECT_NEAR(share.low, 0.4901624715, 1e-9);
  EXPECT_NEAR(share.high, 0.9433178485, 1e-9);
  EXPECT_EQ(wilson(0, 5).low, 0);
}

TEST(ReportText, EscapesHtmlAndInvalidUtf8) {
  EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escaped("\xC3\xA9\x01\xFF\xC3"), "\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(escaped(std::string("\xED\xA0\x80", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // half a surrogate pair
  EXPECT_EQ(cut_short("a\xC3\xA9", 2), "a...");
  EXPECT_EQ(cut_short("abc", 3), "abc");
}

TEST(ReportPlot, AxesCoverTheirValuesWithRoundTicks) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {0, 1}, {-3.2, 7.9}, {1e-7, 3e-7}, {5, 5}, {0, 0}, {-1e9, 1e9}, {kNaN, 2}, {0.99, 1.01}}) {
    const PlotAxis axis = PlotAxis::nice("x", low, high);
    EXPECT_GE(axis.ticks.size(), 2U);
    EXPECT_LE(axis.ticks.size(), 12U);
    EXPECT_LT(axis.low, axis.high);
    if (!std::isnan(low)) {
      EXPECT_LE(axis.low, low);
      EXPECT_GE(axis.high, high);
    }
    for (std::size_t k = 1; k < axis.ticks.size(); ++k) EXPECT_NE(axis.ticks[k].second, axis.ticks[k - 1].second);
  }
  EXPECT_EQ(PlotAxis::shares("p").ticks[1].second, "0.2");
}

TEST(ReportPlot, HasATextDescription) {
  SvgPlot plot("p", "a <title>", "what & why", PlotAxis::shares("x"), PlotAxis::shares("y"));
  plot.line({{0, 0}, {0.5, kNaN}, {1, 1}}, 1, "one");
  plot.marks({{0.5, 0.5}}, {"<i>"}, 2);
  const std::string svg = plot.svg();
  EXPECT_THAT(svg, HasSubstr("role=\"img\" id=\"p\" aria-label=\"a &lt;title&gt;. what &amp; why\""));
  EXPECT_THAT(svg, HasSubstr("<title>a &lt;title&gt;</title><desc>what &amp; why</desc>"));
  EXPECT_THAT(svg, HasSubstr("<title>&lt;i&gt;</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_EQ(test::html_problem(svg), "");
}

TEST(Drawing, IsShortAndKeepsLettersWedgesAndColours) {
  if (const std::string reason = why_no_drawing(); !reason.empty()) GTEST_SKIP() << reason;
  const std::string ring = draw_molecule_svg("c1ccccc1", 240, 170);
  EXPECT_EQ(test::html_problem(ring), "");
  EXPECT_EQ(count(ring, "<path"), 1u) << "all lines of one colour are one path";
  EXPECT_GE(count(ring, "M"), 9u) << "six bonds, three of them double";
  EXPECT_EQ(count(ring, "<text"), 0u);
  const std::string centre = draw_molecule_svg("F[C@H](Cl)Br", 240, 170);
  EXPECT_EQ(test::html_problem(centre), "");
  for (const char* letter : {">F</text>", ">C</text>", ">l</text>", ">B</text>", ">r</text>"})
    EXPECT_EQ(count(centre, letter), 1u) << letter;
  EXPECT_GE(count(centre, "style=\"fill:#"), 1u) << "the wedge is a filled path";
  EXPECT_GE(count(centre, "fill:none;stroke:#"), 3u) << "bonds in the colours of their atoms";
  EXPECT_LT(centre.size(), 1'200u);
  EXPECT_EQ(draw_molecule_svg("not a molecule", 240, 170), "");
}

TEST(SimilarityBins, IntervalsCountMoleculesNotLabels) {
  // Twelve copies of a target contain no more information than one target.
  const auto width_of = [](std::size_t targets) {
    ReportFacts facts = facts_of(TaskKind::regression, targets, 40);
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t t = 0; t < targets; ++t) {
        facts.test.labels[i * targets + t] = static_cast<double>(i % 4);
        facts.test.predictions[i * targets + t] = 0;
      }
    const auto bins = similarity_bins(facts, true);
    EXPECT_EQ(bins.size(), 1u);
    EXPECT_EQ(bins[0].molecules, 40);
    // One target: 1.96 standard deviations (of 0, 1, 2, 3, with n - 1) / sqrt(n). Several targets: errors are in
    // standard deviations of the labels.
    const double scale = targets == 1 ? 1 : std::sqrt(1.25);
    EXPECT_NEAR(bins[0].mean.value, 1.5 / scale, kClose);
    return (bins[0].mean.high - bins[0].mean.value) * scale;
  };
  const double expected = 1.959963984540054 * std::sqrt(1.25 / 39);
  EXPECT_NEAR(width_of(1), expected, kClose);
  EXPECT_NEAR(width_of(12), expected, kClose);
}

/// Molecules with one label each.
MoleculeSet set_of(const std::vector<std::pair<std::string, double>>& molecules) {
  MoleculeSet set;
  set.task = {.kind = TaskKind::regression, .names = {"y"}};
  const Featurizer featurizer(set.featurizer);
  for (const auto& [smiles, label] : molecules)
    set.add(std::get<MolecularGraph>(featurizer.smiles(smiles)), set.size(), smiles, smiles, {label});
  return set;
}

TEST(Similarities, UseNearestTrainingMoleculeAndFindTwins) {
  const MoleculeSet set = set_of({{"CCO", 0},
                                  {"c1ccccc1", 1},
                                  {"OCC", 0},
                                  {"CCCCCCCCCC", 9},
                                  {"CCCCCCCCCCC", 0},
                                  {"CCCCCCCCCCCC", 0},
                                  {"BrBr", 5}});
  const Split split{.train = {0, 1}, .valid = {2, 3}, .test = {4, 5, 6}};
  ReportRecord record;
  add_similarities(set, split, 0, 2, record);
  EXPECT_EQ(record.compared, 2);
  ASSERT_EQ(record.valid.similarity.size(), 2u);
  ASSERT_EQ(record.test.similarity.size(), 3u);
  EXPECT_EQ(record.valid.similarity[0], 1);
  EXPECT_GT(record.valid.similarity[1], 0);
  EXPECT_LT(record.valid.similarity[1], 0.5);
  EXPECT_EQ(record.test.similarity[2], 0);
  // Decane has two twins with equal labels, which differ from decane's by more than one standard deviation (3.5).
  ASSERT_EQ(record.twins.size(), 2u);
  for (const Twins& pair : record.twins) {
    EXPECT_EQ(pair.part_a, 1u);
    EXPECT_EQ(pair.row_a, 1u);
    EXPECT_EQ(pair.part_b, 2u);
    EXPECT_GE(pair.similarity, kTwinSimilarity);
  }
  EXPECT_EQ(record.twins[0].row_b, 0u);  // ties are ordered by similarity
  EXPECT_GT(record.twins[0].similarity, record.twins[1].similarity);
}

TEST(Similarities, NothingIsComparedWithoutATrainingSet) {
  const MoleculeSet set = set_of({{"CCO", 0}, {"CCC", 1}});
  ReportRecord record;
  add_similarities(set, {.train = {}, .valid = {}, .test = {0, 1}}, 0, 1, record);
  EXPECT_TRUE(record.test.similarity.empty());
  EXPECT_EQ(record.compared, 0);
}

TEST(ReportRecordFile, RoundTripsThroughJson) {
  const ReportFacts facts = facts_of(TaskKind::binary, 2, 30, true);
  const ReportRecord record{.methods = facts.methods,
                            .shared = 4,
                            .censored = 5,
                            .test = {.difficulty = {0.5, kNaN}, .similarity = {0.25}},
                            .compared = 9,
                            .twins = {{1, 3, 2, 4, 1, 0.75}}};
  const std::string json = to_json(record, facts.task.names);
  const ReportRecord back = report_record_from_json(json, "report.json", 2);
  EXPECT_EQ(to_json(back, facts.task.names), json);
  EXPECT_EQ(back.test.difficulty.at(0), 0.5);
  std::string old = json;  // of version 0.1.0
  old.replace(old.find("difficulty"), 10, "deviation");
  EXPECT_EQ(report_record_from_json(old, "report.json", 2).test.difficulty.at(0), 0.5);
  EXPECT_EQ(back.shared, 4);
  EXPECT_EQ(back.methods[0].parts[2]->positives, facts.methods[0].parts[2]->positives);
  EXPECT_FALSE(back.methods[0].parts[0].has_value());
  EXPECT_THROW(report_record_from_json(json, "report.json", 3), FileError);
  EXPECT_THROW(report_record_from_json(json.substr(0, json.size() / 2), "report.json", 2), FileError);
  EXPECT_THROW(report_record_from_json("{\"version\": 2}", "report.json", 2), FileError);
}

TEST(ReportJson, LabelsOfClassesAreTheirNames) {
  for (const TaskKind kind : {TaskKind::multiclass, TaskKind::binary, TaskKind::regression}) {
    ReportFacts facts = facts_of(kind, 1, 60);
    facts.task.class_labels = {"low", "mid", "high"};
    const nlohmann::json json = nlohmann::json::parse(report_json(facts)), &worst = json.at("worst");
    const auto errors = worst_errors(facts, worst.size());
    for (std::size_t k = 0; k < errors.size(); ++k) {
      const double label = facts.test.labels[errors[k].row];
      if (kind == TaskKind::regression) EXPECT_NEAR(worst[k].at("label").get<double>(), label, 1e-6);
      else EXPECT_EQ(worst[k].at("label"), facts.task.class_labels[static_cast<std::size_t>(label)]);
    }
    EXPECT_EQ(json.at("twins").at(0).at("a").at("label").is_string(), kind != TaskKind::regression);
    facts.task.class_labels = {};
    EXPECT_TRUE(nlohmann::json::parse(report_json(facts)).at("worst").at(0).at("label").is_number());
  }
}

TEST(TargetLines, AreAlignedAndAtMostTwenty) {
  using Json = nlohmann::ordered_json;
  Json targets = {{{"name", "pIC50 β"}, {"labels", 12345}, {"mae", {{"value", 0.5}, {"low", 0.4}, {"high", 0.6}}}},
                  {{"name", "t"}, {"labels", 7}, {"logarithmic", true}, {"roc-auc", {{"value", 0.75}}}}};
  EXPECT_EQ(target_lines(targets.dump()),
            "  target    labels     mae  roc-auc\n"
            "  pIC50 β   12,345  0.5000        -\n"
            "  log10(t)       7       -   0.7500\n");
  EXPECT_EQ(target_lines(Json::array({targets[0]}).dump()), "");
  for (int k = 0; k < 19; ++k) targets.push_back(targets[0]);
  const std::string lines = target_lines(targets.dump());
  EXPECT_EQ(count(lines, "\n"), 22U);
  EXPECT_THAT(lines, EndsWith("\n  ... and 1 more target\n"));
}

}  // namespace
}  // namespace molgraph
