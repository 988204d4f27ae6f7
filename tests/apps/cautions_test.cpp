// Each caution appears with its cause and not without it.
#include "apps/report/cautions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "apps/report/report_page.hpp"
#include "tests/apps/report_fixture.hpp"

namespace molgraph {
namespace {

using test::facts_of;
using test::kNaN;
using test::task_of;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run that no check objects to: 200 test molecules, half of them far from the training set with equal errors.
ReportFacts sound_run(TaskKind kind = TaskKind::regression, std::size_t targets = 1) {
  ReportFacts facts = facts_of(kind, targets, 200);
  facts.shared = 0;
  facts.run = RunRecord{.finished = "2026-01-01T00:00:00Z", .molecules = 1000, .split = "scaffold"};
  for (std::size_t i = 0; i < 200; ++i) facts.test.similarity[i] = i % 2 == 0 ? 0.35 : 0.45;
  MethodResults& constant = facts.methods[1];
  const std::size_t outputs = facts.test.predictions.size();
  constant.parts[2] = measure(facts.task, std::vector<double>(outputs, 0.2), facts.test.labels, {});
  return facts;
}

std::string texts_of(const ReportFacts& facts) {
  std::string all;
  for (const Caution& caution : cautions(facts)) all += caution.text + "\n";
  return all;
}

/// The cautions of a sound run after one change. The change must cause exactly one.
std::string caution_after(const std::function<void(ReportFacts&)>& change, ReportFacts facts = sound_run()) {
  EXPECT_EQ(texts_of(facts), "");
  change(facts);
  EXPECT_EQ(cautions(facts).size(), 1u);
  return texts_of(facts);
}

void measure_again(ReportFacts& facts) {
  facts.methods[0].parts[2] = measure(facts.task, facts.test.predictions, facts.test.labels, {});
}

TEST(Cautions, SoundRunsHaveNone) {
  EXPECT_EQ(texts_of(sound_run()), "");
  EXPECT_EQ(texts_of(sound_run(TaskKind::binary)), "");
  EXPECT_EQ(texts_of(sound_run(TaskKind::regression, 3)), "");
  EXPECT_EQ(texts_of({.task = task_of(TaskKind::regression)}), "") << "no facts";
  EXPECT_THAT(report_page(sound_run()), Not(HasSubstr("What to be careful about")));
}

TEST(Cautions, NameSmallTestSets) {
  ReportFacts facts = sound_run();
  facts.methods[0].parts[2]->labels = {50};
  EXPECT_EQ(texts_of(facts), "");
  facts.methods[0].parts[2]->labels = {49};
  EXPECT_THAT(texts_of(facts), HasSubstr("The test set has only 49 labels"));
  facts = sound_run(TaskKind::regression, 3);
  facts.methods[0].parts[2]->labels = {3, 49, 20};
  EXPECT_THAT(texts_of(facts), HasSubstr("No target has more than 49 labels in the test set"));
}

TEST(Cautions, NameMissingTestSets) {
  const auto move_test = [](ReportFacts& facts) {
    facts.valid = std::exchange(facts.test, {});
    for (MethodResults& method : facts.methods) method.parts[1] = std::exchange(method.parts[2], std::nullopt);
  };
  EXPECT_THAT(caution_after(move_test), HasSubstr("the validation set, on which the best epoch was chosen, so"));
  ReportFacts facts = sound_run();
  move_test(facts);
  facts.run->refit = true;
  EXPECT_THAT(texts_of(facts), HasSubstr("the model before it was also trained on the validation set."));
  facts.valid.in_train.assign(200, true);
  EXPECT_THAT(texts_of(facts), HasSubstr("on which their best epochs were chosen, so"));
}

TEST(Cautions, TheValidationSetReplacesATestSetWithoutLabels) {
  ReportFacts facts = sound_run();
  facts.valid = facts.test;
  facts.methods[0].parts[1] = facts.methods[0].parts[2];
  EXPECT_EQ(facts.judged_part(), 2u);
  facts.test.labels.assign(facts.test.labels.size(), kNaN);
  measure_again(facts);
  EXPECT_EQ(facts.judged_part(), 1u);
  EXPECT_THAT(texts_of(facts), HasSubstr("The test set has no exact labels. The metrics are those of the validation"));
  EXPECT_THAT(texts_of(facts), Not(HasSubstr("undefined")));
  facts.valid = facts.test = {};
  EXPECT_EQ(facts.judged_part(), 1u) << "without predictions, as after --strip";
  facts.methods[0].parts[2] = facts.methods[0].parts[1];
  EXPECT_EQ(facts.judged_part(), 2u);
}

TEST(Cautions, NameUndefinedMetrics) {
  ReportFacts facts = facts_of(TaskKind::binary, 1, 60, true);
  EXPECT_THAT(texts_of(facts), HasSubstr("ROC-AUC on the test set is undefined. Possible causes:"));
  EXPECT_THAT(report_page(facts), HasSubstr("Brier on the test set: <strong>")) << "the first metric with a value";
  facts = sound_run(TaskKind::regression, 3);
  for (std::size_t i = 0; i < 200; ++i) facts.test.labels[3 * i + 1] = kNaN;
  measure_again(facts);
  EXPECT_THAT(texts_of(facts), HasSubstr("Spearman on the test set is undefined for 1 of 3 targets. Possible"));
}

TEST(Cautions, NameBetterMethods) {
  const auto with_method = [](const std::string& name, double factor) {
    return caution_after([&](ReportFacts& facts) {
      MethodResults method = facts.methods[0];
      method.name = name;
      method.parts[2]->mean[static_cast<std::size_t>(Measure::mae)].value *= factor;
      facts.methods.push_back(method);
      method.name = "transformer alone";  // a part of the run
      method.parts[2]->mean[static_cast<std::size_t>(Measure::mae)].value = 0;
      facts.methods.push_back(method);
    });
  };
  EXPECT_THAT(with_method("trees", 0.9), HasSubstr("as good or better: trees, MAE 0."));
  EXPECT_THAT(with_method("trees", 1), HasSubstr("as good or better: trees, MAE 0."));
}

TEST(Cautions, NameTargetsWithoutSkill) {
  const auto shuffle = [](ReportFacts& facts) {  // no relation between predictions and labels of the first target
    const std::size_t targets = facts.task.names.size();
    for (std::size_t i = 0; i < 100; ++i)
      std::swap(facts.test.predictions[i * targets], facts.test.predictions[(199 - i) * targets]);
    measure_again(facts);
    facts.methods.resize(1);
  };
  EXPECT_THAT(caution_after(shuffle, sound_run()),
              HasSubstr("R2 on the test set is not clearly above 0. The predictions may be"));
  EXPECT_THAT(caution_after(shuffle, sound_run(TaskKind::binary)),
              HasSubstr("ROC-AUC on the test set is not clearly above 0.5. The"));
  EXPECT_THAT(caution_after(shuffle, sound_run(TaskKind::regression, 3)),
              HasSubstr("R2 on the test set is not clearly above 0 for 1 of 3 targets. Their"));
  ReportFacts facts = sound_run();
  facts.methods[0].parts[2]->targets[0][static_cast<std::size_t>(Measure::r2)] = {-0.1, kNaN, kNaN};
  EXPECT_EQ(cautions(facts).size(), 1u) << "without an interval, the value counts";
}

TEST(Cautions, NameProblemsOfTheData) {
  EXPECT_THAT(caution_after([](ReportFacts& facts) { facts.shared = 1; }), HasSubstr("1 molecule occurs in two sets"));
  EXPECT_THAT(caution_after([](ReportFacts& facts) { facts.run->suspicious_labels.resize(2); }),
              HasSubstr("2 labels are outliers"));
  EXPECT_THAT(caution_after([](ReportFacts& facts) { facts.run->rejected = 53; }),
              HasSubstr("53 rows were rejected, next to 1,000 molecules in use"));
  ReportFacts facts = sound_run();
  facts.run->rejected = 52;  // 4.94 %
  EXPECT_EQ(texts_of(facts), "");
}

TEST(Cautions, NameTheSimilarityOfRandomTestSets) {
  const auto split = [](const std::string& name) {
    return [name](ReportFacts& facts) {
      facts.run->split = name;
      facts.test.similarity[7] = kNaN;
    };
  };
  EXPECT_THAT(caution_after(split("random")),
              HasSubstr("a similarity of at least 0.35 to a training molecule. Expect"));
  EXPECT_THAT(caution_after(split("random folds")), HasSubstr("The split is random:"));
  ReportFacts facts = sound_run();
  split("randomised by me")(facts);
  EXPECT_EQ(texts_of(facts), "");
  split("random")(facts);
  facts.test.similarity.clear();
  EXPECT_EQ(texts_of(facts), "The split is random. Expect larger errors for molecules of a new series.\n");
}

TEST(Cautions, NameErrorsThatGrowWithDistance) {
  // Errors of 0.1 and 0.3 have a mean of 0.2.
  const auto larger = [](double factor) {
    return [factor](ReportFacts& facts) {
      for (std::size_t i = 0; i < 200; ++i)
        facts.test.predictions[i] =
            facts.test.labels[i] + (i / 2 % 2 == 0 ? 0.1 : 0.3) * (facts.test.similarity[i] < 0.4 ? factor : 1);
      measure_again(facts);
    };
  };
  EXPECT_THAT(
      caution_after(larger(1.3)),
      HasSubstr("the mean error is 0.2600 for molecules with a similarity below 0.4 and 0.2000 for the others."));
  ReportFacts facts = sound_run();
  larger(1.2)(facts);
  EXPECT_EQ(texts_of(facts), "") << "less than 1.25 times as large";
  for (std::size_t i = 0; i < 200; ++i) facts.test.similarity[i] = i < 8 ? 0.35 : 0.45;
  larger(1.3)(facts);
  EXPECT_EQ(texts_of(facts), "") << "too few molecules for a clear difference";
  larger(4)(facts);
  EXPECT_EQ(cautions(facts).size(), 1u);
}

TEST(Cautions, NameIntervalsThatAreTooNarrow) {
  const auto hits = [](std::int64_t count, std::int64_t labels) {
    return [count, labels](ReportFacts& facts) {
      const double share = static_cast<double>(count) / static_cast<double>(labels);
      facts.coverage = {{.target = 0, .level = 0.5, .covered = 0, .hits = 0, .labels = labels},
                        {.target = 0, .level = 0.9, .covered = share, .hits = count, .labels = labels}};
    };
  };
  EXPECT_THAT(caution_after(hits(160, 200)), HasSubstr("The 90 % intervals contain only 80 % of the test labels"));
  ReportFacts facts = sound_run();
  hits(172, 200)(facts);
  EXPECT_EQ(texts_of(facts), "") << "86 %: the interval of the share contains 90 %";
  hits(17'800, 20'000)(facts);
  EXPECT_EQ(texts_of(facts), "") << "89 % is close enough";
  facts = sound_run(TaskKind::regression, 3);
  for (std::size_t t = 0; t < 2; ++t)
    facts.coverage.push_back({.target = t, .level = 0.9, .covered = 0.7, .hits = 140, .labels = 200});
  EXPECT_THAT(texts_of(facts),
              HasSubstr("of 2 of the 2 targets with intervals contain too few test labels. Those of </td>"));
}

TEST(Cautions, AreEscapedOnThePage) {
  ReportFacts facts = sound_run();
  facts.methods[1].name = "<b>trees";
  facts.methods[1].parts[2]->mean[static_cast<std::size_t>(Measure::mae)].value = 0;
  const std::string page = report_page(facts);
  EXPECT_THAT(page, HasSubstr("<h2>What to be careful about</h2>"));
  EXPECT_THAT(page, HasSubstr("as good or better: &lt;b&gt;trees, MAE"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#results\">Details</a>"));
  facts.coverage = {{.target = 0, .level = 0.9, .covered = 0.7, .hits = 140, .labels = 200}};
  facts.run->split = "random";
  facts.test.similarity.clear();
  const std::string cautious = report_page(facts);
  EXPECT_THAT(cautious, HasSubstr("<a href=\"#coverage\">Details</a>"));
  EXPECT_THAT(cautious, Not(HasSubstr("href=\"#similarity\""))) << "the report has no such section";
}

}  // namespace
}  // namespace molgraph
