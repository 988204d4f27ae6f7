// The page of the report is complete, safe and small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <cmath>
#include <cstring>

#include "apps/report/html.hpp"
#include "apps/report/page_style.hpp"
#include "apps/report/report_page.hpp"
#include "featurize/smiles/drawing.hpp"
#include "tests/apps/report_fixture.hpp"
#include "tests/apps/report_script.hpp"
#include "tests/support/html_check.hpp"

namespace molgraph {
namespace {

using test::count;
using test::facts_of;
using test::kNaN;
using test::task_of;
using ::testing::HasSubstr;
using ::testing::Not;

void check_page(const std::string& with_script, const std::string& what) {
  const std::string page = test::without_script(with_script);
  EXPECT_EQ(test::html_problem(page), "") << what;
  EXPECT_EQ(test::network_reference(page), "") << what;
  EXPECT_THAT(page, Not(HasSubstr("<script"))) << what;
  EXPECT_THAT(page, Not(HasSubstr("<img"))) << what;
  EXPECT_THAT(page, Not(HasSubstr(">nan<"))) << what;
  EXPECT_LT(page.size(), 2U << 20) << what;
  const std::string link = "href=\"#";
  for (std::size_t at = page.find(link); at != std::string::npos; at = page.find(link, at + 1)) {
    const std::size_t begin = at + link.size(), end = page.find('"', begin);
    EXPECT_THAT(page, HasSubstr("id=\"" + page.substr(begin, end - begin) + "\"")) << what;
  }
}

TEST(ReportPage, IsCompleteSafeAndSmall) {
  check_page(report_page(facts_of(TaskKind::regression, 1, 20)), "20 rows");
  check_page(report_page(facts_of(TaskKind::regression, 1, 1)), "one row");
  check_page(report_page(facts_of(TaskKind::regression, 1, 10'000)), "many rows");
  check_page(report_page(facts_of(TaskKind::regression, 128, 300)), "128 targets");
  check_page(report_page(facts_of(TaskKind::binary, 128, 300)), "128 targets of two classes");
  check_page(report_page(facts_of(TaskKind::multiclass, 2, 100)), "three classes");
  check_page(report_page({.task = task_of(TaskKind::regression)}), "no facts");
  const std::string undefined = report_page(facts_of(TaskKind::regression, 5, 1));
  check_page(undefined, "five targets without a correlation");
  EXPECT_THAT(undefined, HasSubstr("id=\"parity-2\""));
}

TEST(ReportPage, OnlyTablesOfTargetsHaveAScriptAndThePagePermitsOnlyThat) {
  const std::string one = report_page(facts_of(TaskKind::regression, 1, 20)),
                    several = report_page(facts_of(TaskKind::regression, 5, 20));
  EXPECT_EQ(test::without_script(one), one);
  EXPECT_NE(test::without_script(several), several);
  EXPECT_THAT(one, Not(HasSubstr("script-src")));
  // The hash in the policy: echo -n SCRIPT | openssl dgst -sha256 -binary | base64
  std::array<unsigned char, 32> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(kSortScript), std::strlen(kSortScript), digest.data());
  std::array<unsigned char, 45> encoded{};
  EVP_EncodeBlock(encoded.data(), digest.data(), digest.size());
  EXPECT_THAT(several, HasSubstr("script-src 'sha256-" + std::string(encoded.begin(), encoded.end() - 1) + "'\""));
}

TEST(ReportPage, LabelsOfMoleculesAreTheWordsOfTheTable) {
  ReportFacts facts = facts_of(TaskKind::binary, 1, 60);
  const std::string numbers = report_page(facts);
  EXPECT_THAT(numbers, HasSubstr("<dt>label</dt><dd>1</dd>"));
  EXPECT_THAT(numbers, HasSubstr("<dt>probability of 1</dt>"));
  facts.task.class_labels = {"inert", "<active>"};
  const std::string words = report_page(facts);
  EXPECT_THAT(words, HasSubstr("<dt>label</dt><dd>&lt;active&gt;</dd>"));
  EXPECT_THAT(words, HasSubstr("<dt>label</dt><dd>inert</dd>"));
  EXPECT_THAT(words, HasSubstr("<dt>probability of &lt;active&gt;</dt>"));
  EXPECT_THAT(words, Not(HasSubstr("<dt>label</dt><dd>1</dd>")));
}

TEST(ReportPage, DotsShowTheMoleculesWithTheLargestErrors) {
  if (const std::string reason = why_no_drawing(); !reason.empty()) GTEST_SKIP() << reason;
  ReportFacts facts = facts_of(TaskKind::regression, 1, 1'500);
  for (std::size_t i = 0; i < 1'500; ++i) {
    facts.test.smiles[i] = "CC(C)c1ccc(cc1)C(=O)NCCN" + std::string(i % 30, 'C');
    facts.test.labels[i] = 0, facts.test.predictions[i] = static_cast<double>(i) / 100;
  }
  facts.test.smiles[1'400] = "not a molecule";
  const std::string page = report_page(facts);
  check_page(page, "drawings");
  EXPECT_THAT(page, HasSubstr("<g id=\"molecule-1499\"><rect"));
  EXPECT_THAT(page, HasSubstr("<use href=\"#molecule-1499\""));
  EXPECT_THAT(page, HasSubstr("label 0.0000</text>"));
  EXPECT_THAT(page, HasSubstr("prediction 14.99</text>"));
  facts.task.logarithmic = {true};
  EXPECT_THAT(report_page(facts), HasSubstr("label 1.000</text>")) << "in the unit of the table";
  facts.task.logarithmic = {};
  EXPECT_THAT(page, Not(HasSubstr("\"molecule-1400\"")));
  EXPECT_THAT(page, Not(HasSubstr("\"molecule-0\""))) << "more than fit into the page";
  EXPECT_THAT(page, HasSubstr("(drawn for " + std::to_string(count(page, "<use ")) + ", those with"));
  // The validation results of out-of-fold models contain training molecules, which the report does not draw.
  facts.test.in_train.assign(1'500, false);
  facts.test.in_train[1'499] = true;
  EXPECT_THAT(report_page(facts), Not(HasSubstr("molecule-1499\"")));
}

TEST(ReportPage, DrawingsAreSharedEvenlyAmongThePlots) {
  if (const std::string reason = why_no_drawing(); !reason.empty()) GTEST_SKIP() << reason;
  ReportFacts facts = facts_of(TaskKind::regression, 4, 2'000);
  for (std::size_t i = 0; i < 2'000; ++i) facts.test.smiles[i] = "C" + std::string(i % 9, 'C') + "O";
  // The first target has few labels and small errors.
  for (std::size_t i = 0; i < 2'000; ++i) {
    facts.test.labels[4 * i] = i < 100 ? facts.test.predictions[4 * i] + 0.001 : kNaN;
    facts.test.labels[4 * i + 1] = facts.test.predictions[4 * i + 1] + 5;
  }
  const std::string page = report_page(facts);
  check_page(page, "four targets");
  const std::size_t first = page.find("id=\"parity-0\""), second = page.find("id=\"parity-1\"");
  EXPECT_EQ(count(page.substr(first, second - first), "<use "), 100u);
  EXPECT_GT(count(page, "<use "), 1'000u);
}

TEST(ReportPage, ListsNoOutlierLabelsOfTrainingMolecules) {
  ReportFacts facts = facts_of(TaskKind::regression, 1, 20);
  facts.run.emplace();
  facts.run->suspicious_labels = {
      {.target = "y", .value = 41.5, .row = 3, .id = "<b>", .part = "train", .neighbours = {7.25}},
      {.target = "y", .value = 42.5, .row = 4, .id = "<i>", .part = "test", .neighbours = {8.25}}};
  const std::string page = report_page(facts);
  check_page(page, "outliers");
  EXPECT_THAT(page, HasSubstr("<tr><th scope=\"row\">4</th><td>&lt;i&gt;</td><td>test</td><td>y</td><td>42.50</td>"));
  for (const char* hidden : {"41.50", "&lt;b&gt;</td>", "7.250", "8.250"}) EXPECT_THAT(page, Not(HasSubstr(hidden)));
  EXPECT_THAT(page, HasSubstr("1 outlier label is not listed"));
}

TEST(ReportPage, ShowsTheIntervalsOfTargetsThatHaveThem) {
  ReportFacts facts = facts_of(TaskKind::regression, 6, 300);
  for (std::size_t t = 0; t < 6; ++t) {
    facts.coverage = {{.target = t, .level = 0.9, .covered = 0.7, .width = 1, .hits = 140, .labels = 200}};
    EXPECT_THAT(report_page(facts), HasSubstr("id=\"cover\"")) << t;
  }
}

TEST(ReportPage, ReportsAMissingClass) {
  const std::string page = report_page(facts_of(TaskKind::binary, 1, 50, true));
  check_page(page, "one class");
  EXPECT_THAT(page, HasSubstr("has only one class in the test set"));
  EXPECT_THAT(page, Not(HasSubstr("id=\"roc\"")));
  EXPECT_THAT(page, HasSubstr("id=\"reliability\""));
}

TEST(ReportPage, ShowsPlotsAndTheirNumbers) {
  const ReportFacts facts = facts_of(TaskKind::regression, 1, 200);
  const std::string page = report_page(facts);
  for (const char* part : {"id=\"parity-0\"", "id=\"validation\"", "best epoch 3, 1", "<summary>Numbers</summary>",
                           "prediction = label", "2 molecules</strong>: the metrics", "&lt;b&gt;ring 1 not closed"})
    EXPECT_THAT(page, HasSubstr(part));
  const Estimate& mae = facts.methods[0].parts[2]->mean[0];
  EXPECT_THAT(page, HasSubstr(estimate_html(mae)));
}

TEST(ReportPage, BeginsWithTheMainMetricOfAllMethods) {
  ReportFacts facts = facts_of(TaskKind::regression, 1, 200);
  facts.task.units = {"<log>"};
  facts.noise = {{.target = 0, .molecules = 1, .rows = 2, .deviation = 0.25}};
  const std::string mae = number_html(facts.methods[0].parts[2]->mean[0].value);
  std::string page = report_page(facts);
  EXPECT_THAT(page, HasSubstr("MAE on the test set: <strong>" + mae + "</strong>"));
  EXPECT_THAT(page, HasSubstr("<p>MAE of other methods: mean predictor " + mae +
                              ". Standard deviation of repeated measurements: 0.2500 &lt;log&gt; (1 molecule).</p>"));
  facts = facts_of(TaskKind::regression, 3, 200);
  page = report_page(facts);
  const Estimate& mean = facts.methods[0].parts[2]->mean[static_cast<std::size_t>(Measure::spearman)];
  EXPECT_THAT(page, HasSubstr("Spearman on the test set, mean over 3 targets: <strong>" + number_html(mean.value)));
  facts.has_config = true;
  facts.run = RunRecord{.finished = "2026-01-01T00:00:00Z", .program = "molgraph 9", .sha256 = "abc"};
  EXPECT_THAT(report_page(facts), HasSubstr("<dt>SHA-256 of the data</dt><dd>abc</dd>"));
  facts.has_config = false;
  EXPECT_THAT(report_page(facts), Not(HasSubstr("Repeat this run")));
}

}  // namespace
}  // namespace molgraph
