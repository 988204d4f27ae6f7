// model_card.md has the metadata of model hubs, the results and cautions of the run, and no Markdown from the data.
#include "apps/report/model_card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/system/text.hpp"
#include "tests/apps/report_fixture.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

using test::facts_of;
using test::kNaN;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ReportFacts facts_of_table() {
  ReportFacts facts = facts_of(TaskKind::regression, 1, 60);
  facts.task.names = {"y"};
  facts.name = "a \"b\": c.csv";
  for (double& y : facts.test.labels) y = 1;
  for (std::size_t i = 0; i < 60; ++i) facts.test.predictions[i] = i % 2 == 0 ? 1.5 : 0.5;
  facts.methods[0].parts[2] = measure(facts.task, facts.test.predictions, facts.test.labels, {});
  facts.run = RunRecord{.finished = "2026-01-01T00:00:00Z",
                        .program = "molgraph 9",
                        .source = facts.name,
                        .sha256 = "abc",
                        .molecules = 69,
                        .rejected = 1,
                        .split = "time",
                        .precision = "bf16 (AMX)"};
  return facts;
}

TEST(ModelCard, BeginsWithTheMetadataOfModelHubs) {
  EXPECT_THAT(model_card(facts_of_table(), ""), StartsWith(R"(---
library_name: molgraph
tags:
- chemistry
- molecular-property-prediction
- graph-transformer
model-index:
- name: "a \"b\": c.csv"
  results:
  - task:
      type: tabular-regression
      name: molecular property prediction
    dataset:
      name: "a \"b\": c.csv"
      type: "a \"b\": c.csv"
      split: test
    metrics:
    - type: mae
      value: 0.5
    - type: rmse
      value: 0.5
---

# a "b": c.csv
)"));
  EXPECT_THAT(model_card(facts_of(TaskKind::binary, 1, 60), ""), HasSubstr("type: tabular-classification"));
  ReportFacts pretrained;
  pretrained.task = test::task_of(TaskKind::regression);
  EXPECT_THAT(model_card(pretrained, ""), Not(HasSubstr("model-index")));
  EXPECT_THAT(model_card(pretrained, ""), Not(HasSubstr("## Results")));
}

TEST(ModelCard, HasResultsCautionsAndData) {
  const std::string card = model_card(facts_of_table(), "## Information about molecules\n");
  EXPECT_THAT(card, HasSubstr("| metric | test (60) |\n|---|---|\n| MAE | 0.5000 (0.5000 to 0.5000) |\n"));
  EXPECT_THAT(card, HasSubstr("MAE of other methods on the test set: mean predictor 0."));
  EXPECT_THAT(card, HasSubstr("\n- 2 molecules occur in two sets of the split"));
  EXPECT_THAT(card,
              HasSubstr("\n- Molecules: 69; rejected rows: 1\n- Split: time: 8 training, 1 validation, 60 test\n"));
  EXPECT_THAT(card, HasSubstr("\n- Trained with: molgraph 9, finished 2026-01-01T00:00:00Z\n"
                              "- Precision of matrix products: bf16 (AMX)\n"));
  EXPECT_TRUE(card.ends_with("\n\n## Information about molecules\n"));
}

TEST(ModelCard, NamesUnitsAndScales) {
  ReportFacts facts = facts_of_table();
  facts.task.units = {"h"};
  facts.task.logarithmic = {true};
  EXPECT_THAT(model_card(facts, ""), HasSubstr("\nMAE and RMSE are in log10(h).\n"));
  facts.methods[0].parts[2]->mean[static_cast<std::size_t>(Measure::mae)] = {1e-5, kNaN, kNaN};
  EXPECT_THAT(model_card(facts, ""), HasSubstr("- type: mae\n      value: 1.0e-05\n"));
  facts = facts_of(TaskKind::regression, 3, 60);
  facts.run = RunRecord{.refit = true};
  EXPECT_THAT(model_card(facts, ""), HasSubstr("for which it is defined, in their units.\n"));
  facts.task.names = {"a", "b", "c"};
  facts.task.logarithmic = {false, true, false};
  EXPECT_THAT(model_card(facts, ""), HasSubstr("in their units (log10 units: b).\n"));
  EXPECT_THAT(model_card(facts, ""), Not(HasSubstr("- type: mae"))) << "the mean of errors in different units";
  EXPECT_THAT(model_card(facts, ""), HasSubstr("- type: spearman"));
  EXPECT_THAT(model_card(facts, ""), HasSubstr("the validation results are those before"));
  facts.run->target_descriptors = "rdkit";
  EXPECT_THAT(model_card(facts, ""), HasSubstr("molgraph-train table.csv --from RUN -o NEW_RUN"));
}

TEST(ModelCard, TextOfTheDataIsNotMarkup) {
  ReportFacts facts = facts_of_table();
  facts.task.names = {"a|b\n# `c` <script>\\_x_"};
  facts.name = "*x*[y](z)\r---";
  facts.methods[1].name = "<b>";
  facts.run->blend = {"[x](y)"};
  facts.run->start = "/private/place/w.safetensors";
  const std::string card = model_card(facts, "");
  EXPECT_THAT(card, HasSubstr(" set: \\<b\\> 0."));
  EXPECT_THAT(card, HasSubstr("blended with \\[x\\](y); training started from w.safetensors\n"));
  EXPECT_THAT(card, HasSubstr("\n- Predicts: a\\|b \\# \\`c\\` \\<script\\>\\\\\\_x\\_ (regression)\n"));
  EXPECT_THAT(card, HasSubstr("\n# \\*x\\*\\[y\\](z)\xEF\xBF\xBD---\n"));
  EXPECT_THAT(card, HasSubstr("- name: \"*x*[y](z)\xEF\xBF\xBD---\"\n"));
}

TEST(ModelCard, ListsTheFilesWithMoleculesUntilTheyAreRemoved) {
  const test::Scratch scratch;
  const std::string run = scratch.path("run");
  scratch.write("run/splits.csv", "");
  scratch.write("run/model_0/test_predictions.csv", "");
  const std::string contents = contents_of_run(run);
  EXPECT_THAT(contents, HasSubstr("- `splits.csv`: ids and SMILES of all molecules\n"));
  EXPECT_THAT(contents, HasSubstr("- `model_0/test_predictions.csv`: ids, SMILES and true values of the test set\n"));
  const std::string card = model_card(facts_of_table(), contents);
  update_model_card(run);
  EXPECT_FALSE(scratch.exists("run/model_card.md")) << "a run without a card gets none";
  scratch.write("run/model_card.md", card);
  update_model_card(run);
  EXPECT_EQ(scratch.read("run/model_card.md"), card);
  std::filesystem::remove(scratch.path("run/splits.csv"));
  std::filesystem::remove(scratch.path("run/model_0/test_predictions.csv"));
  update_model_card(run);
  const std::string stripped = scratch.read("run/model_card.md");
  EXPECT_THAT(stripped, StartsWith(card.substr(0, card.size() - contents.size()) +
                                   "## Information about molecules\n\nThe folder"));
  EXPECT_THAT(stripped, Not(HasSubstr("splits.csv")));
}

}  // namespace
}  // namespace molgraph
