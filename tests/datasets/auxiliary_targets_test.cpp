#include "datasets/auxiliary_targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "datasets/load.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using testing::message_of;
using testing::ScratchFolder;

Task regression_task(std::vector<std::string> names) {
  Task task{.names = std::move(names)};
  task.units.resize(task.names.size());
  return task;
}

/// Two molecules with two regression targets, an auxiliary class and an auxiliary regression target.
MoleculeSet set_of_two() {
  MoleculeSet set;
  set.task = joined_task(regression_task({"a", "c"}), regression_task({"d", "b"}));
  set.row = {0, 1};
  set.targets = {1, 3, 0, 2, 4, 6, 1, 5};
  set.bound = {0, 0, 0, 1, -1, 0, 0, 0};
  return set;
}

TEST(AuxiliaryTargets, AreMovedOutOfTheSetAndBack) {
  MoleculeSet set = set_of_two();
  Task more = regression_task({"d", "b"});
  more.set_kinds({TaskKind::binary, TaskKind::regression});
  const AuxiliaryTargets auxiliary = take_auxiliary(set, regression_task({"a", "c"}), more);
  EXPECT_THAT(set.task.names, ElementsAre("a", "c"));
  EXPECT_THAT(set.targets, ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(set.bound, ElementsAre(0, 0, -1, 0));
  EXPECT_THAT(auxiliary.values, ElementsAre(0, 2, 1, 5));
  EXPECT_THAT(auxiliary.bound, ElementsAre(0, 1, 0, 0));
  const MoleculeSet all = with_auxiliary(set, auxiliary, {1});
  EXPECT_THAT(all.task.names, ElementsAre("a", "c", "d", "b"));
  EXPECT_THAT(all.task.kinds,
              ElementsAre(TaskKind::regression, TaskKind::regression, TaskKind::binary, TaskKind::regression));
  EXPECT_THAT(all.targets, ElementsAre(1, 3, IsNan(), IsNan(), 4, 6, 1, 5))
      << "the first molecule is not in the training set";
  EXPECT_THAT(all.bound, ElementsAre(0, 0, 0, 0, -1, 0, 0, 0));
  EXPECT_THAT(with_auxiliary(set, auxiliary, {0}).bound, ElementsAre(0, 0, 0, 1, -1, 0, 0, 0));
}

TEST(AuxiliaryTargets, JoinedBoundsAreZeroForExactTargets) {
  MoleculeSet set = set_of_two();
  set.bound = {0, 0, 0, 1, 0, 0, 0, 0};
  const AuxiliaryTargets auxiliary = take_auxiliary(set, regression_task({"a", "c"}), regression_task({"d", "b"}));
  EXPECT_THAT(set.bound, IsEmpty()) << "all labels are exact";
  EXPECT_THAT(with_auxiliary(set, auxiliary, {0, 1}).bound, ElementsAre(0, 0, 0, 1, 0, 0, 0, 0));
  EXPECT_EQ(with_auxiliary(set, auxiliary, {0, 1}).task.kind, TaskKind::regression);
  set = set_of_two();
  set.bound = {};
  const AuxiliaryTargets exact = take_auxiliary(set, regression_task({"a"}), regression_task({"c", "d", "b"}));
  EXPECT_THAT(with_auxiliary(set, exact, {0, 1}).bound, IsEmpty());
  EXPECT_THAT(with_auxiliary(set, exact, {0, 1}).targets, ElementsAre(1, 3, 0, 2, 4, 6, 1, 5));
}

TEST(AuxiliaryTargets, TasksCanBeDividedAndJoined) {
  Task all{.kind = TaskKind::mixed, .names = {"a", "b", "c"}, .units = {"", "", "nM"}, .class_labels = {"no", "yes"}};
  all.kinds = {TaskKind::binary, TaskKind::binary, TaskKind::regression};
  const Task classes = some_targets(all, {0, 1}), number = some_targets(all, {2});
  EXPECT_EQ(classes.kind, TaskKind::binary);
  EXPECT_THAT(classes.class_labels, ElementsAre("no", "yes"));
  EXPECT_EQ(number.kind, TaskKind::regression);
  EXPECT_THAT(number.units, ElementsAre("nM"));
  EXPECT_THAT(number.class_labels, IsEmpty());
  EXPECT_EQ(joined_task(classes, number).kinds, all.kinds);
  all.kind = TaskKind::multiclass;
  EXPECT_THROW(joined_task(all, number), UsageError);
}

TEST(AuxiliaryTargets, UninformativeTargetsCauseWarnings) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const AuxiliaryTargets auxiliary{regression_task({"a", "b", "c"}), {1, missing, 5, 2, 1, 5, 3, 2, 6}};
  EXPECT_THAT(auxiliary_warnings(auxiliary, {0, 1}),
              ElementsAre(AllOf(HasSubstr("'b'"), HasSubstr("only one distinct label")),
                          AllOf(HasSubstr("'c'"), HasSubstr("only one distinct label"))));
  EXPECT_THAT(auxiliary_warnings(auxiliary, {0}), Contains(AllOf(HasSubstr("'b'"), HasSubstr("no label"))));
  EXPECT_THAT(auxiliary_warnings(auxiliary, {1, 2}), IsEmpty());
}

class AuxiliaryTables : public ::testing::Test {
 protected:
  LoadedData load_texts(const std::vector<std::string>& tables) {
    options.paths.clear();
    for (const std::string& text : tables)
      options.paths.push_back(folder.write("t" + std::to_string(options.paths.size()) + ".csv", text));
    return load_data(options);
  }
  LoadOptions options;
  ScratchFolder folder;
};

// The task of the targets does not depend on the auxiliary columns.
TEST_F(AuxiliaryTables, AuxiliaryColumnsDoNotChangeTheTask) {
  const std::string table =
      "smiles,logD,flag,toxic,word,year\nC,1.5,0,yes,active,1999\nCC,2.5,1,no,inactive,2001\nCCC,3.5,1,yes,active,"
      "2003\n"
      "CCCC,4.5,0,no,inactive,2004\n";
  options.auxiliary_columns = {"logD", "word", "Year"};
  options.target_columns = {"flag"};
  LoadedData data = load_texts({table});
  EXPECT_EQ(data.set.task.kind, TaskKind::binary);
  EXPECT_THAT(data.auxiliary.task.kinds, ElementsAre(TaskKind::regression, TaskKind::binary, TaskKind::regression));
  EXPECT_THAT(data.auxiliary.values, ElementsAre(1.5, 1, 1999, 2.5, 0, 2001, 3.5, 1, 2003, 4.5, 0, 2004));
  options.target_columns = {"toxic"};
  data = load_texts({table});
  EXPECT_THAT(data.set.task.class_labels, ElementsAre("no", "yes"));
  options.positive = "no";
  EXPECT_THAT(load_texts({table}).set.targets, ElementsAre(0, 1, 0, 1));
  options.positive = "", options.target_columns = {}, options.auxiliary_columns = {"flag", "toxic", "word", "year"};
  EXPECT_THAT(load_texts({table}).set.task.names, ElementsAre("logD")) << "the only column that is not auxiliary";
}

TEST_F(AuxiliaryTables, DuplicatesAreMergedInTargetsAndAuxiliaryTargets) {
  options.auxiliary_columns = {"logD"};
  options.duplicates = Duplicates::mean;
  const LoadedData data = load_texts({"smiles,logD,y\nCO,100,0.25\nCO,101,0.75\nCC,5,1\nCCC,6,2\n"});
  EXPECT_THAT(data.set.targets, ElementsAre(0.5, 1, 2));
  EXPECT_THAT(data.auxiliary.values, ElementsAre(100.5, 5, 6));
  ASSERT_EQ(data.repeated.size(), 2u);
  EXPECT_EQ(data.repeated[0].values.front().value, 0.25) << "targets precede auxiliary targets";
}

TEST_F(AuxiliaryTables, AuxiliaryColumnsMayBeCensored) {
  options.auxiliary_columns = {"b"};
  const std::string table = "smiles,a,b\nC,1,>5\nCC,2,3\nCCC,3,4\nCCCC,4,1\n";
  LoadedData data = load_texts({table});
  EXPECT_EQ(data.censored, 0) << "counts only the targets";
  EXPECT_THAT(data.auxiliary.bound, ElementsAre(1, 0, 0, 0));
  options.censored = Censored::drop;
  data = load_texts({table});
  EXPECT_THAT(data.auxiliary.values, ElementsAre(IsNan(), 3, 4, 1));
  EXPECT_THAT(data.auxiliary.bound, IsEmpty());
  options.censored = Censored::value;
  EXPECT_THAT(load_texts({table}).auxiliary.values, ElementsAre(5, 3, 4, 1));
}

TEST_F(AuxiliaryTables, TestTablesMayLackAuxiliaryColumns) {
  options.auxiliary_columns = {"logD"};
  const std::string train = "smiles,y,logD\nC,1,5\nCC,2,6\nCCC,3,7\nCCCC,4,8\n", bare = "y,smiles\n1,CO\n2,CCO\n";
  const LoadedData data = load_texts({train, bare, bare});
  EXPECT_THAT(data.auxiliary.values, ElementsAre(5, 6, 7, 8, IsNan(), IsNan(), IsNan(), IsNan()));
  EXPECT_THAT(message_of<DataError>([&] {
                load_texts({"smiles,y\nC,1\nCC,2\n", train});
              }),
              HasSubstr("no auxiliary target column 'logD'"));
}

TEST_F(AuxiliaryTables, InvalidAuxiliaryColumnsAreErrors) {
  const std::string table = "smiles,y,color,logD\nC,1,red,5\nCC,2,blue,6\nCCC,3,green,7\n";
  options.auxiliary_columns = {"color"};
  EXPECT_THAT(message_of<DataError>([&] { load_texts({table}); }), HasSubstr("'color'"));
  options.auxiliary_columns = {"y", "logD"};
  EXPECT_THROW(load_texts({table}), DataError) << "no target is left";
  options.target_columns = {"y"};
  EXPECT_THAT(message_of<UsageError>([&] { load_texts({table}); }), HasSubstr("named twice"));
}

}  // namespace
}  // namespace molgraph
