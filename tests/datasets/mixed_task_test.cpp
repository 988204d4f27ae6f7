// Mixed tasks of regression and binary targets: how they are determined, and how sets and stores keep the kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "datasets/load.hpp"
#include "datasets/splits/stratify.hpp"
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
using testing::ScratchFolder;

class MixedTask : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  static LoadOptions of(TaskKind kind) {
    LoadOptions options;
    options.task = kind;
    return options;
  }
  static LoadOptions named(const std::vector<std::string>& columns) {
    LoadOptions options;
    options.target_columns = columns;
    return options;
  }
  ScratchFolder folder;
};

const char* const kMixedTable =
    "smiles,y,active,flag\nC,1.5,yes,1\nCC,>2,no,0\nCCC,3,,1\nCCCC,4,yes,0\nCO,5,no,\nCN,6,no,1\n";

TEST_F(MixedTask, KindsFollowTheValuesOfEachColumn) {
  const LoadedData data = load_text(kMixedTable, of(TaskKind::mixed));
  EXPECT_EQ(data.set.task.kind, TaskKind::mixed);
  EXPECT_THAT(data.set.task.names, ElementsAre("y", "active", "flag"));
  EXPECT_THAT(data.set.task.kinds, ElementsAre(TaskKind::regression, TaskKind::binary, TaskKind::binary));
  EXPECT_EQ(data.set.task.num_outputs(), 3);
  EXPECT_EQ(data.set.targets[1], 1);
  EXPECT_EQ(data.set.targets[4], 0);
  EXPECT_TRUE(std::isnan(data.set.targets[7]));
  EXPECT_EQ(data.set.bound[3], 1) << "regression targets of a mixed task may be censored";
  EXPECT_THAT(data.notes, Contains(HasSubstr("binary labels in 'active': yes is 1, no is 0")));
}

TEST_F(MixedTask, NamedColumnsOfWordsAndNumbersAreMixed) {
  EXPECT_EQ(load_text(kMixedTable, named({"y", "active"})).set.task.kind, TaskKind::mixed);
  EXPECT_THAT(load_text(kMixedTable).set.task.names, ElementsAre("y", "flag"))
      << "columns of words that are not named are left out";
}

TEST_F(MixedTask, TargetsOfOneKindAreNotMixed) {
  const LoadedData numbers = load_text(kMixedTable, named({"y", "flag"}));
  EXPECT_EQ(numbers.set.task.kind, TaskKind::regression)
      << "a column of 0 and 1 next to numbers is a regression target by default";
  EXPECT_THAT(numbers.notes, Contains(AllOf(HasSubstr("'flag'"), HasSubstr("-t mixed to classify"))));
  LoadOptions options = named({"active", "flag"});
  options.task = TaskKind::mixed;
  const LoadedData classes = load_text(kMixedTable, options);
  EXPECT_EQ(classes.set.task.kind, TaskKind::binary);
  EXPECT_THAT(classes.set.task.kinds, IsEmpty());
}

TEST_F(MixedTask, ThreeClassesInAMixedTaskAreErrors) {
  LoadOptions options = named({"y", "phase"});
  options.task = TaskKind::mixed;
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y,phase\nC,1.5,a\nCC,2,b\nCCC,3,c\n", options); }),
              AllOf(HasSubstr("'phase' is text"), HasSubstr("classes must be 1 and 0")));
  options.positive = "a";
  EXPECT_THAT(message_of<UsageError>([&] { load_text("smiles,y,phase\nC,1.5,a\nCC,2,b\n", options); }),
              HasSubstr("not to mixed"));
}

TEST_F(MixedTask, OnlyClassesAreStratified) {
  const ClassLabels labels = class_labels_of(load_text(kMixedTable, of(TaskKind::mixed)).set);
  EXPECT_EQ(labels.targets, 3u);
  EXPECT_THAT(labels.subset({0, 2}).classes, ElementsAre(-1, 1, 1, -1, -1, 1));
}

TEST_F(MixedTask, StoresKeepTheKinds) {
  LoadOptions options = of(TaskKind::mixed);
  options.paths = {folder.write("table.csv", kMixedTable)};
  load_to_store(options, folder.file("a.h5"));
  LoadOptions from;
  from.paths = {folder.file("a.h5")};
  const MoleculeSet set = load_data(from).set;
  EXPECT_EQ(set.task.kind, TaskKind::mixed);
  EXPECT_THAT(set.task.kinds, ElementsAre(TaskKind::regression, TaskKind::binary, TaskKind::binary));
  from.target_columns = {"flag", "y"};
  EXPECT_THAT(load_data(from).set.task.kinds, ElementsAre(TaskKind::binary, TaskKind::regression));
  from.target_columns = {"active", "flag"};
  EXPECT_EQ(load_data(from).set.task.kind, TaskKind::binary);
  from.target_columns.clear();
  from.task = TaskKind::regression;
  EXPECT_EQ(load_data(from).set.task.kind, TaskKind::regression);
  from.task = TaskKind::binary;
  EXPECT_THAT(message_of<DataError>([&] { load_data(from); }), HasSubstr("cannot be classified"));
  // A store with regression targets can be loaded as a mixed task.
  LoadOptions numbers = named({"y", "flag"});
  numbers.paths = options.paths;
  load_to_store(numbers, folder.file("n.h5"));
  from.paths = {folder.file("n.h5")};
  from.task = TaskKind::mixed;
  EXPECT_THAT(load_data(from).set.task.kinds, ElementsAre(TaskKind::regression, TaskKind::binary));
}

}  // namespace
}  // namespace molgraph
