// Choice of target columns, words that are labels, and the notes about both.
#include "datasets/tables/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "datasets/load.hpp"
#include "datasets/tables/labels.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::Not;
using testing::ScratchFolder;

/// A table of alkanes with one column of labels, which repeats `cells` in order.
std::string table_of(const std::vector<std::string>& cells, const std::string& column = "label", int rows = 12) {
  std::string text = "smiles," + column + "\n";
  for (int r = 0; r < rows; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," +
            cells[static_cast<std::size_t>(r) % cells.size()] + "\n";
  return text;
}

class TargetsTest : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  ScratchFolder folder;
};

TEST(Labels, RecognisesWordsInAnyCase) {
  for (const char* word : {"yes", "Yes", " ACTIVE ", "true", "Positive", "1", "1.0"})
    EXPECT_TRUE(binary_label(word)->positive) << word;
  for (const char* word : {"no", "No", "inactive", "FALSE", "negative", "0", "-0.0"})
    EXPECT_FALSE(binary_label(word)->positive) << word;
  for (const char* word : {"y", "n", "soluble", "2", "", "yes!", "-1"})
    EXPECT_FALSE(binary_label(word).has_value()) << word;
}

TEST(Labels, RecognisesCensoredLabels) {
  for (const char* cell : {">50", "< 0.1", "<=3 nM", "~5", "\u2265 10", ">-2", ">.5"})
    EXPECT_TRUE(is_censored(cell)) << cell;
  for (const char* cell : {"50", "<b>x</b>", "a>5", "-5", "", "~", ">", "->5"}) EXPECT_FALSE(is_censored(cell)) << cell;
}

TEST_F(TargetsTest, KnownWordsAreBinaryByDefault) {
  for (const auto& [zero, one] :
       {std::pair{"No", "yes"}, {"inactive", "Active"}, {"FALSE", "True"}, {"negative", "POSITIVE"}, {"0", "1"}}) {
    const LoadedData data = load_text(table_of({one, zero, zero, "None"}));
    EXPECT_EQ(data.set.task.kind, TaskKind::binary) << one;
    EXPECT_THAT(data.set.task.names, ElementsAre("label"));
    EXPECT_EQ(data.set.targets[0], 1.0f) << one;
    EXPECT_EQ(data.set.targets[1], 0.0f) << zero;
    EXPECT_TRUE(std::isnan(data.set.targets[3])) << "None is a missing label";
    EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("binary labels in 'label'"), HasSubstr("1"))));
    EXPECT_EQ(data.set.task.positive_label().empty(), std::string(one) == "1") << "numbers have no words";
  }
  EXPECT_THAT(load_text(table_of({"Active", "inactive"})).set.task.class_labels, ElementsAre("inactive", "active"))
      << "inactive is class 0, although active is first in the alphabet";
  EXPECT_THAT(load_text(table_of({"active", "inactive"})).notes, Contains(HasSubstr("active is 1, inactive is 0")));
}

TEST_F(TargetsTest, TargetsMayHaveDifferentWords) {
  const LoadedData data = load_text("smiles,a,b\nC,yes,inactive\nCC,no,active\nCCC,yes,\n");
  EXPECT_THAT(data.set.task.names, ElementsAre("a", "b"));
  EXPECT_EQ(data.set.task.kind, TaskKind::binary);
  EXPECT_THAT(data.set.task.class_labels, IsEmpty()) << "they have no common words";
  EXPECT_EQ(data.set.targets[1], 0.0f);
  EXPECT_EQ(data.set.targets[3], 1.0f);
}

TEST_F(TargetsTest, TargetsThatShareAListOfClassesAreReported) {
  LoadOptions options;
  options.task = TaskKind::multiclass;
  options.target_columns = {"a", "b"};
  const auto shared = HasSubstr("share one list");
  EXPECT_THAT(load_text("smiles,a,b\nC,low,x\nCC,high,x\nCCC,x,low\nCCCC,,high\n", options).warnings,
              Not(Contains(shared)));
  const LoadedData data = load_text("smiles,a,b\nC,low,red\nCC,high,blue\nCCC,mid,red\nCCCC,,mid\n", options);
  EXPECT_EQ(data.set.task.classes, 5);
  EXPECT_THAT(data.warnings, Contains(AllOf(shared, HasSubstr("of 5 classes"), HasSubstr("'a' (3), 'b' (3)"))));
}

TEST_F(TargetsTest, ClassesAreAtLeastTwoAndDifferInMoreThanCase) {
  LoadOptions options;
  options.target_columns = {"label"};
  options.task = TaskKind::multiclass;
  const std::vector<std::vector<std::string>> ones{{"toxic", "toxic"}, {"toxic", "none"}};
  for (const auto& labels : ones)
    EXPECT_THAT(message_of<DataError>([&] { load_text(table_of(labels), options); }),
                AllOf(HasSubstr("'label' has only the class 'toxic'"), HasSubstr("count as missing")));
  EXPECT_THAT(load_text(table_of({"High", "low", "high"}), options).warnings,
              Contains(HasSubstr("classes differ only in case: High, high")));
  options.task.reset();
  options.positive = "toxic";
  EXPECT_THAT(message_of<DataError>([&] {
                load_text(table_of({"toxic", "none"}), options);
              }),
              HasSubstr("must be this label and one other"));
}

TEST_F(TargetsTest, WordsNextToNumbersAreLeftOutAndNamed) {
  const LoadedData data = load_text("smiles,y,stock\nC,1.5,yes\nCC,2.5,no\nCCC,3,yes\n");
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_EQ(data.set.task.kind, TaskKind::regression);
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("'stock'"), HasSubstr("--target-columns"))));
  LoadOptions options;
  options.target_columns = {"stock"};
  EXPECT_EQ(load_text("smiles,y,stock\nC,1.5,yes\nCC,2.5,no\nCCC,3,yes\n", options).set.task.kind, TaskKind::binary);
}

TEST_F(TargetsTest, OtherWordsNeedAPositiveLabel) {
  LoadOptions options;
  options.target_columns = {"label"};
  const LoadedData two = load_text(table_of({"soluble", "insoluble"}), options);
  EXPECT_EQ(two.set.task.kind, TaskKind::multiclass);
  EXPECT_EQ(two.set.task.classes, 2);
  EXPECT_THAT(two.notes, Contains(AllOf(HasSubstr("multiclass with two classes"), HasSubstr("--positive"))));
  options.task = TaskKind::binary;
  EXPECT_THAT(message_of<DataError>([&] {
                load_text(table_of({"soluble", "insoluble"}), options);
              }),
              AllOf(HasSubstr("insoluble, soluble"), HasSubstr("--positive")));
  for (const bool named : {true, false}) {
    for (const auto& [positive, first] : {std::pair{"soluble", 1.0f}, {"Insoluble", 0.0f}}) {
      LoadOptions chosen;
      chosen.positive = positive;
      if (named) chosen.target_columns = {"label"};
      const LoadedData data = load_text(table_of({"soluble", "insoluble", "NA"}), chosen);
      EXPECT_EQ(data.set.task.kind, TaskKind::binary);
      EXPECT_EQ(data.set.targets[0], first) << positive;
      EXPECT_EQ(data.set.targets[1], 1.0f - first) << positive;
      EXPECT_EQ(data.set.task.positive_label(), first == 1.0f ? "soluble" : "insoluble") << "spelled as in the table";
    }
  }
}

TEST_F(TargetsTest, PositiveLabelSwapsKnownLabelsOrIsAnError) {
  LoadOptions options;
  options.positive = "no";
  EXPECT_EQ(load_text(table_of({"yes", "no"}), options).set.targets[0], 0.0f);
  options.positive = "0";
  EXPECT_EQ(load_text(table_of({"1", "0"}), options).set.targets[0], 0.0f);
  options.positive = "maybe";
  EXPECT_THAT(message_of<DataError>([&] {
                load_text(table_of({"yes", "no"}), options);
              }),
              HasSubstr("no column has this label"));
  options.target_columns = {"label"};
  EXPECT_THAT(message_of<DataError>([&] { load_text(table_of({"yes", "no"}), options); }), HasSubstr("no, yes"));
  options.positive = "a";
  EXPECT_THAT(message_of<DataError>([&] { load_text(table_of({"a", "b", "c"}), options); }), HasSubstr("a, b, c"));
  options.task = TaskKind::regression;
  EXPECT_THAT(message_of<UsageError>([&] {
                load_text(table_of({"a", "b"}), options);
              }),
              HasSubstr("not to regression"));
}

TEST_F(TargetsTest, StoresKeepTheirLabels) {
  LoadOptions words, two, from;
  words.paths = {folder.write("words.csv", table_of({"active", "inactive"}))};
  load_to_store(words, folder.file("words.h5"));
  two.paths = {folder.write("two.csv", table_of({"soluble", "insoluble"}))};
  two.target_columns = {"label"};
  load_to_store(two, folder.file("two.h5"));

  from.paths = {folder.file("words.h5")};
  EXPECT_THAT(load_data(from).set.task.class_labels, ElementsAre("inactive", "active"));
  from.positive = "inactive";
  EXPECT_EQ(load_data(from).set.targets[0], 0.0f);
  EXPECT_EQ(load_data(from).set.task.positive_label(), "inactive");
  from.paths = {folder.file("two.h5")};
  EXPECT_THAT(message_of<UsageError>([&] { load_data(from); }), HasSubstr("insoluble, soluble"));
  from.positive = "soluble";
  const LoadedData data = load_data(from);
  EXPECT_EQ(data.set.task.kind, TaskKind::binary);
  EXPECT_EQ(data.set.targets[0], 1.0f);
  EXPECT_EQ(data.set.task.num_outputs(), 1);
}

TEST_F(TargetsTest, ColumnsLeftOutForCensoredCellsAreNamed) {
  const LoadedData data =
      load_text("smiles,y,ic50,note\nC,1.5,>50,a\nCC,2.5,low,b\nCCC,3,high,c\nCCCC,4,n.d.,d\nCN,5,,e\n");
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.warnings,
              Contains(AllOf(HasSubstr("'ic50' (0 of 4 cells are numbers, 1 censored, such as >50 in row 1)"),
                             Not(HasSubstr("note")))));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,ic50\nC,>50\nCC,>50\nCCC,low\n"); }),
              AllOf(HasSubstr("'ic50'"), HasSubstr("2 censored")))
      << "if no target is left, the error contains the reason";
}

TEST_F(TargetsTest, ProgramOutputIsNotATarget) {
  const std::string names = "y_pred,Y_STD,y_pred_0,y_prob_high,status,reason,molgraph_status,nearest_distance,pred";
  std::string text = "smiles,y," + names + "\n";
  for (int r = 1; r < 5; ++r) text += std::string(static_cast<std::size_t>(r), 'C') + ",2.5,1,2,3,4,5,6,7,8,9\n";
  const LoadedData data = load_text(text);
  EXPECT_THAT(data.set.task.names, ElementsAre("y", "pred"));
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("y_pred"), HasSubstr("--target-columns"))));
  LoadOptions options;
  options.target_columns = {"y_pred"};
  EXPECT_THAT(load_text(text, options).set.task.names, ElementsAre("y_pred")) << "a named column overrides the rules";
}

TEST_F(TargetsTest, ColumnsNextToAPredictionAreNotTargets) {
  const std::string names =
      "y_pred,y_low,Y_HIGH,y_baseline,y_blend,domain_y,domain_similarity,domain_percentile,dose_low,domain_z";
  std::string text = "smiles,y," + names + "\n";
  for (int r = 1; r < 5; ++r) text += std::string(static_cast<std::size_t>(r), 'C') + ",2.5,1,2,3,4,5,6,7,8,9,1\n";
  EXPECT_THAT(load_text(text).set.task.names, ElementsAre("y", "dose_low", "domain_z"));
}

TEST_F(TargetsTest, TrueAndFalseAreNoNumbersNextToNumbers) {
  const auto error_of = [&](const std::vector<std::string>& cells, const LoadOptions& options = {}) {
    return message_of<DataError>([&] { load_text(table_of(cells), options); });
  };
  EXPECT_THAT(
      error_of({"1.5", "0", "TRUE"}),
      AllOf(HasSubstr("row 3"), HasSubstr("'label' has a cell that is not a number, unlike '1.5'; if it is not a"),
            HasSubstr("TRUE")));
  EXPECT_THAT(error_of({"1.5", "2", "TRUE", "maybe"}), AllOf(HasSubstr("row 4"), HasSubstr("maybe")));
  LoadOptions options;
  options.target_columns = {"label"};
  EXPECT_THAT(error_of({"1.5", "false"}, options), AllOf(HasSubstr("row 2"), Not(HasSubstr("--target-columns"))));
  options.task = TaskKind::binary;
  EXPECT_THAT(error_of({"TRUE", "FALSE", "2"}, options), AllOf(HasSubstr("row 3"), HasSubstr("neither 0 nor 1")));
  EXPECT_EQ(load_text(table_of({"TRUE", "0", "1", "False"})).set.task.kind, TaskKind::binary);
  options.task = TaskKind::regression;
  EXPECT_EQ(load_text(table_of({"TRUE", "0", "1", "False"}), options).set.task.kind, TaskKind::regression);
}

TEST_F(TargetsTest, MissingCellsAreEqualForTargetsIdsAndSplits) {
  for (const char* blank : {"", " ", "NA", "NaN", "nan", "N/A", "null", "NULL", "None", "none", "-"}) {
    const std::string cell(blank);
    LoadOptions options;
    options.splits_column = "part";
    const LoadedData data = load_text(
        "id,smiles,y,part\n" + cell + ",C,1.5,train\nm2,CC," + cell + ",train\nm3,CCC,3," + cell + "\nm4,CCCC,4,test\n",
        options);
    EXPECT_THAT(data.set.id, ElementsAre("1", "m2", "m3", "m4")) << "'" << cell << "'";
    EXPECT_TRUE(std::isnan(data.set.targets[1])) << "'" << cell << "'";
    EXPECT_THAT(data.split.train, ElementsAre(0)) << "the other row has no label: '" << cell << "'";
    EXPECT_THAT(data.split.test, ElementsAre(3)) << "'" << cell << "'";
    LoadOptions grouped;
    grouped.split = SplitKind::group;
    grouped.group_column = "g";
    grouped.split_sizes = {0.5, 0.25, 0.25};
    std::string rows = "smiles,y,g\n";
    for (int r = 1; r <= 40; ++r)
      rows += std::string(static_cast<std::size_t>(r), 'C') + "," + std::to_string(r) + ".5," + cell + "\n";
    EXPECT_EQ(load_text(rows, grouped).split.train.size(), 20u)
        << "rows without a group are separate: '" << cell << "'";
  }
}

TEST_F(TargetsTest, WarningsOfOneKindAreMerged) {
  std::string header = "smiles", rows;
  for (int t = 0; t < 70; ++t) header += ",t" + std::to_string(t);
  for (int r = 0; r < 40; ++r) {
    rows += std::string(static_cast<std::size_t>(r + 1), 'C');
    for (int t = 0; t < 70; ++t) rows += t == 69 ? "," + std::to_string(r) + ".5" : ",7";
    rows += "\n";
  }
  LoadOptions options;
  for (int t = 0; t < 70; ++t) options.target_columns.push_back("t" + std::to_string(t));
  const LoadedData data = load_text(header + "\n" + rows, options);
  std::vector<std::string> constant;
  for (const std::string& warning : data.warnings)
    if (warning.find("same value") != std::string::npos) constant.push_back(warning);
  EXPECT_THAT(constant,
              ElementsAre(AllOf(HasSubstr("69 targets have"), HasSubstr("'t0', 't1', 't2' ... and 66 more"))));
}

}  // namespace
}  // namespace molgraph
