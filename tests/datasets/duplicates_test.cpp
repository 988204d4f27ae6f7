// Duplicate molecules: merging, and that every split keeps their rows in the same set.
#include "datasets/duplicates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "datasets/load.hpp"
#include "datasets/store/store.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
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
using ::testing::SizeIs;

std::vector<double> targets_of(const MoleculeSet& set) { return set.targets; }

class DuplicatesTest : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  MoleculeSet stored(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    options.require_targets = false;
    report = load_to_store(options, folder.file("table.h5"));
    return Store(folder.file("table.h5")).load();
  }
  static LoadOptions with(Duplicates rule) {
    LoadOptions options;
    options.duplicates = rule;
    return options;
  }
  ScratchFolder folder;
  StoreReport report;
};

// Ethanol has three rows with different SMILES, acetic acid has two, one of them without a label.
constexpr const char* kTable =
    "id,smiles,y\na,CCO,1\nb,CC(=O)O,4\nc,OCC,2\nd,CCN,7\ne,C(O)C,6\nf,OC(C)=O,\ng,C1CC,9\nh,CCC,8\n";

TEST_F(DuplicatesTest, MergesCensoredLabels) {
  const std::string text = "smiles,ic50\nCCO,>50\nCC,7\nOCC,>80\nCN,1\nNC,>9\nCCC,<2\nC,3\nCCCC,4\n";
  const LoadedData data = load_text(text);
  EXPECT_THAT(data.set.targets, ElementsAre(80, 7, 1, 2, 3, 4));
  EXPECT_THAT(data.set.bound, ElementsAre(1, 0, 0, -1, 0, 0));
  EXPECT_EQ(data.censored, 2);
  EXPECT_EQ(repeated_line(data.repeated[0], data.set.task), "0,0,1,CCO,>50,>80\n");
  EXPECT_EQ(stored(text).bound, data.set.bound);
  LoadOptions options;
  options.censored = Censored::value;
  EXPECT_THAT(load_text(text, options).set.targets, ElementsAre(65, 7, 5, 2, 3, 4))
      << "limits are used as exact labels";
}

TEST_F(DuplicatesTest, WeightsAddUp) {
  const std::string text = "smiles,y,w\nCCO,1,3\nOCC,5,1\nC,2,1\nCC,3,0.5\nCN,1,1\n";
  LoadOptions options;
  options.weight_column = "w";
  const LoadedData data = load_text(text, options);
  EXPECT_THAT(data.set.targets, ElementsAre(2, 2, 3, 1));
  EXPECT_THAT(data.set.weight, ElementsAre(4, 1, 0.5, 1));
  EXPECT_EQ(stored(text, options).weight, data.set.weight);
  options.duplicates = Duplicates::drop;
  EXPECT_THAT(load_text(text, options).set.weight, ElementsAre(3, 1, 0.5, 1));
  LoadOptions without;
  without.target_columns = {"y"};
  EXPECT_THAT(load_text(text, without).set.weight, IsEmpty()) << "a merged row counts as one row";
}

TEST_F(DuplicatesTest, SpreadNeedsTwoDifferentLabels) {
  EXPECT_THAT(load_text("smiles,y\nCCO,1\nOCC,\nC,2\nCC,3\n").notes,
              Contains(HasSubstr("no target has two labels for one of them")));
  EXPECT_THAT(load_text("smiles,y\nCCO,1\nOCC,1\nC,2\nCC,3\n").notes, Contains(HasSubstr("their labels are equal")));
}

TEST_F(DuplicatesTest, InputColumnsAreMergedLikeTargets) {
  LoadOptions options;
  options.input_columns = {"logD"};
  const std::string text = "smiles,y,logD\nCCO,1,2\nOCC,3,\nC(C)O,5,5\nC,2,1\nCC,3,\n";
  const auto near = [](float value) { return ::testing::FloatEq(value); };
  EXPECT_EQ(load_text(text, options).set.size(), 5) << "all rows are kept: they may differ in an input column";
  options.duplicates = Duplicates::mean;
  EXPECT_THAT(load_text(text, options).set.inputs, ElementsAre(near(3.5f), near(1), ::testing::IsNan()));
  options.duplicates = Duplicates::drop;
  EXPECT_THAT(load_text(text, options).set.inputs, ElementsAre(near(2), near(1), ::testing::IsNan()));
}

TEST_F(DuplicatesTest, MergesByMeanByDefault) {
  const LoadedData data = load_text(kTable);
  EXPECT_THAT(data.set.id, ElementsAre("a", "b", "d", "h")) << "the first row of each, in the order of the table";
  EXPECT_THAT(data.set.row, ElementsAre(0, 1, 3, 7));
  EXPECT_THAT(targets_of(data.set), ElementsAre(3, 4, 7, 8));
  EXPECT_THAT(data.set.rejected, SizeIs(1));
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("2 duplicate molecules in 5 of 8 rows: one row each, by mean"),
                                         HasSubstr("(--duplicates mean)"), HasSubstr("'y' median 5"),
                                         HasSubstr("at most 5.000 (row 1)"))));
  EXPECT_THAT(data.warnings, Contains(HasSubstr("1 of 8 rows were rejected"))) << "counted over all rows";
  ASSERT_THAT(data.repeated, SizeIs(5));
  EXPECT_EQ(data.repeated[2].row, 2);
  EXPECT_EQ(data.repeated[2].first, 0);
  EXPECT_EQ(data.repeated[2].smiles, "OCC");
  EXPECT_EQ(data.repeated[2].values.at(0).value, 2);
  EXPECT_EQ(data.repeated[2].used.at(0).value, 3);
  EXPECT_EQ(repeated_header(data.set.task), "row,first,id,smiles,y,y_used\n");
  EXPECT_EQ(repeated_line(data.repeated[4], data.set.task), "5,1,f,OC(C)=O,,4\n");
}

TEST_F(DuplicatesTest, AppliesEachRule) {
  EXPECT_THAT(targets_of(load_text(kTable, with(Duplicates::median)).set), ElementsAre(2, 4, 7, 8));
  const LoadedData dropped = load_text(kTable, with(Duplicates::drop));
  EXPECT_THAT(targets_of(dropped.set), ElementsAre(1, 4, 7, 8));
  EXPECT_THAT(dropped.notes, Contains(HasSubstr("the first row of each is kept, the others are dropped")));
  EXPECT_THAT(dropped.repeated, SizeIs(5));
  const LoadedData kept = load_text(kTable, with(Duplicates::keep));
  EXPECT_THAT(kept.set.id, ElementsAre("a", "b", "c", "d", "e", "f", "h"));
  EXPECT_EQ(kept.set.targets[2], 2);
  EXPECT_THAT(kept.notes, Contains(HasSubstr("all are kept, those of one molecule in the same set")));
}

TEST_F(DuplicatesTest, ClassesAreMergedByMajorityAndTiesAreMissing) {
  const std::string text = "smiles,active\nCCO,1\nOCC,1\nC(C)O,0\nCN,1\nNC,0\nCCC,0\nCCCC,1\nCC,0\nC,0\nCCCCC,1\n";
  const LoadedData data = load_text(text);
  ASSERT_EQ(data.set.task.kind, TaskKind::binary);
  EXPECT_EQ(data.set.targets[0], 1);
  EXPECT_TRUE(std::isnan(data.set.targets[1]));
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("by majority"), HasSubstr("'active' for 2 (1 ties, left blank)"))));
}

TEST_F(DuplicatesTest, TablesWithoutDuplicatesCauseNoNote) {
  const LoadedData data = load_text("smiles,y\nCCO,1\nC,2\nCCN,3\nCCC,4\n");
  EXPECT_THAT(data.repeated, IsEmpty());
  EXPECT_THAT(data.notes, Not(Contains(HasSubstr("duplicates"))));
  // Different molecules with equal invariants: mirror images, E and Z isomers.
  const LoadedData stereo = load_text("smiles,y\nC[C@H](F)O,1\nC[C@@H](F)O,2\nC/C=C/C,3\nC/C=C\\C,4\nCC=CC,5\n");
  EXPECT_THAT(stereo.repeated, IsEmpty());
  EXPECT_EQ(stereo.set.size(), 5);
  EXPECT_EQ(load_text("smiles,y\nC[C@H](F)O,1\n[C@@H](C)(F)O,2\nC,3\nCC,3\n").set.size(), 3);
}

TEST_F(DuplicatesTest, StandardisedSaltsAreDuplicatesOfTheirParents) {
  const std::string text = "smiles,y\nCC(=O)O,1\nCC(=O)[O-].[Na+],3\nCCO.Cl,5\nCCO,7\nC,9\n";
  EXPECT_EQ(load_text(text).set.size(), 5);
  LoadOptions options;
  options.standardize = Standardize::parent;
  EXPECT_THAT(targets_of(load_text(text, options).set), ElementsAre(2, 6, 9));
}

TEST_F(DuplicatesTest, StoresContainTheSameRows) {
  for (const auto rule : {Duplicates::mean, Duplicates::median, Duplicates::keep, Duplicates::drop}) {
    const LoadedData data = load_text(kTable, with(rule));
    const MoleculeSet set = stored(kTable, with(rule));
    EXPECT_EQ(set.row, data.set.row);
    EXPECT_THAT(set.targets, ::testing::Pointwise(::testing::NanSensitiveDoubleEq(), data.set.targets));
    EXPECT_EQ(report.rows, 8);
    EXPECT_EQ(report.molecules, set.size());
    EXPECT_EQ(report.repeated.size(), rule == Duplicates::keep ? 0u : 5u)
        << "no split is computed, so `keep` does not search for duplicates";
  }
  EXPECT_EQ(stored(kTable).size(), 4) << "mean is the default of a table with targets";
  EXPECT_EQ(stored("smiles\nCCO\nOCC\nC\n").size(), 3) << "a table without targets keeps all rows";
  EXPECT_EQ(stored("smiles\nCCO\nOCC\nC\n", with(Duplicates::drop)).size(), 2) << "unless the option is set";
  LoadOptions options;
  options.paths = {folder.file("table.h5")};
  options.duplicates = Duplicates::mean;
  EXPECT_THAT(message_of<UsageError>([&] { load_data(options); }), HasSubstr("--duplicates mean would do nothing"));
}

TEST_F(DuplicatesTest, PredefinedSplitsMergeOnlyTrainingRows) {
  LoadOptions options;
  options.splits_column = "part";
  const std::string text =
      "smiles,y,part\nCCO,1,train\nOCC,3,train\nC(C)O,8,test\nOCC,9,test\nCN,4,val\nNC,6,val\nC,1,train\n";
  const LoadedData data = load_text(text, options);
  EXPECT_THAT(targets_of(data.set), ElementsAre(2, 8, 9, 4, 6, 1)) << "merged only in the training set";
  EXPECT_THAT(data.split.train, ElementsAre(0, 5));
  EXPECT_THAT(data.split.test, ElementsAre(1, 2));
  EXPECT_THAT(data.split.valid, ElementsAre(3, 4));
  EXPECT_THAT(data.notes, Contains(HasSubstr("1 duplicate molecule in 2 of 7 rows (training set only)")));
  EXPECT_THAT(data.warnings, Contains(HasSubstr("1 molecule is in two sets of the split")));
  // With a splits file, all rows are kept.
  LoadOptions by_file;
  by_file.splits_file = folder.write("s.json", R"({"train": [0, 1, 6], "val": [4, 5], "test": [2, 3]})");
  EXPECT_EQ(load_text(text, by_file).set.size(), 7);
  by_file.duplicates = Duplicates::mean;
  EXPECT_THAT(message_of<UsageError>([&] { load_text(text, by_file); }), HasSubstr("--splits-file"));
}

TEST_F(DuplicatesTest, EarliestTimeAndFirstGroupAreUsed) {
  LoadOptions options;
  options.split = SplitKind::time;
  options.time_column = "day";
  options.split_sizes = {0.5, 0, 0.5};
  const std::string days = "smiles,y,day\nCCO,1,2024-03-01\nC,2,2024-02-01\nCC,3,2024-02-02\nOCC,5,2024-01-01\n";
  const LoadedData data = load_text(days, options);
  EXPECT_THAT(data.set.row, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.split.train, ElementsAre(0)) << "the earliest date of ethanol is in January";
  EXPECT_THAT(message_of<DataError>([&] { load_text(days + "CO,1,2024-03-05\nOC,1,soon\n", options); }),
              AllOf(HasSubstr("row 6"), HasSubstr("soon")));
  LoadOptions order = with(Duplicates::keep);
  order.split = SplitKind::order;
  order.target_columns = {"y"};
  order.split_sizes = {0.5, 0, 0.5};
  EXPECT_THAT(load_text(days, order).split.train, ElementsAre(0, 3)) << "the first row of ethanol decides";
  LoadOptions groups;
  groups.split = SplitKind::group;
  groups.group_column = "day";
  EXPECT_EQ(load_text("smiles,y,day\nCCO,1,\nC,2,a\nCC,3,b\nOCC,5,a\nCCC,2,c\n", groups).set.size(), 4);
}

TEST_F(DuplicatesTest, LimitCountsRowsBeforeMerging) {
  LoadOptions options;
  options.limit = 4;
  const LoadedData data = load_text(kTable, options);
  EXPECT_THAT(data.set.row, ElementsAre(0, 1, 3)) << "from rows 1 to 4";
  EXPECT_THAT(targets_of(data.set), ElementsAre(1.5, 4, 7));
}

/// A table with groups and times in which half of the molecules have one to four rows with two spellings.
std::string random_table(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return random() % n; };
  std::vector<std::string> rows;
  for (unsigned m = 0; m < 60; ++m) {
    const std::string tail(m / 3 + 1, 'C');
    const std::array<std::string, 2> spellings[] = {
        {tail + "CO", "OC" + tail}, {tail + "c1ccccc1", "c1ccc(cc1)" + tail}, {tail + "C(N)=O", "O=C(N)" + tail}};
    for (unsigned copy = 0; copy <= below(4) * (m % 2); ++copy)
      rows.push_back(spellings[m % 3][below(2)] + "," + std::to_string(below(100)) + "," + std::to_string(below(2)) +
                     ",g" + std::to_string(below(12)) + "," + std::to_string(below(1000)) + "\n");
  }
  std::shuffle(rows.begin(), rows.end(), random);
  std::string text = "smiles,y,active,project,day\n";
  for (const std::string& row : rows) text += row;
  return text;
}

/// Expects each molecule in one set of the split, or in no set if it has no label (tie of two classes).
void expect_together(const MoleculeSet& set, const Split& split, const std::string& what) {
  std::map<std::string, std::set<int>> parts;
  int number = 0;
  std::vector<int> times(static_cast<std::size_t>(set.size()));
  for (const auto* part : {&split.train, &split.valid, &split.test}) {
    for (const auto g : *part) {
      parts[canonical_smiles(set.smiles[static_cast<std::size_t>(g)])].insert(number);
      ++times[static_cast<std::size_t>(g)];
    }
    ++number;
  }
  for (const auto& [smiles, in] : parts) EXPECT_THAT(in, SizeIs(1)) << what << ": " << smiles;
  for (std::size_t g = 0; g < times.size(); ++g)
    EXPECT_TRUE(times[g] == 1 || (times[g] == 0 && std::isnan(set.targets[g]))) << what << ": " << set.smiles[g];
}

TEST_F(DuplicatesTest, EverySplitKeepsDuplicatesTogether) {
  struct SplitMethod {
    std::string name;
    SplitKind kind;
    int folds = 0;
  };
  const std::vector<SplitMethod> methods{{"random", SplitKind::random},
                                         {"scaffold", SplitKind::scaffold},
                                         {"scaffold-balanced", SplitKind::scaffold_balanced},
                                         {"group", SplitKind::group},
                                         {"time", SplitKind::time},
                                         {"order", SplitKind::order},
                                         {"random folds", SplitKind::random, 3},
                                         {"scaffold folds", SplitKind::scaffold, 2},
                                         {"group folds", SplitKind::group, 2}};
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::string text = random_table(seed);
    for (const Duplicates rule : {Duplicates::mean, Duplicates::median, Duplicates::keep, Duplicates::drop}) {
      for (const SplitMethod& method : methods) {
        for (const char* target : {"y", "active"}) {
          LoadOptions options = with(rule);
          options.target_columns = {target};
          options.split = method.kind;
          options.folds = method.folds;
          options.seed = seed;
          options.split_sizes = {0.6, 0.2, 0.2};
          if (method.kind == SplitKind::group) options.group_column = "project";
          if (method.kind == SplitKind::time) options.time_column = "day";
          const std::string what = method.name + ", " + std::string(to_string(rule)) + ", " + target;
          LoadedData data;
          try {
            data = load_text(text, options);
          } catch (const UsageError& error) {  // groups that share molecules are merged
            EXPECT_THAT(error.what(), HasSubstr("there are only 1 groups")) << what;
            continue;
          } catch (const DataError& error) {
            EXPECT_THAT(error.what(), HasSubstr("the training set is empty")) << what;
            continue;
          }
          for (const Split& split : data.folds.empty() ? std::vector{data.split} : data.folds)
            expect_together(data.set, split, what);
          EXPECT_THAT(data.warnings, Not(Contains(HasSubstr("two sets of the split")))) << what;
          const MoleculeSet set = stored(text, options);
          for (const auto& [name, split] : set.splits) expect_together(set, split, "store: " + what);
        }
      }
    }
  }
}

TEST_F(DuplicatesTest, StoresAreSplitByMoleculesOnRequest) {
  const std::string text = random_table(2);
  LoadOptions stored_with = with(Duplicates::keep);
  stored_with.target_columns = {"y"};
  stored(text, stored_with);
  for (const SplitKind kind : {SplitKind::random, SplitKind::scaffold}) {
    for (const int folds : {0, 2}) {
      LoadOptions options;
      options.paths = {folder.file("table.h5")};
      options.split = kind;
      options.folds = folds;
      options.split_sizes = {0.6, 0.2, 0.2};
      if (kind == SplitKind::random) {
        EXPECT_THAT(load_data(options).warnings, Contains(HasSubstr("two sets of the split")))
            << "the default is by rows";
      }
      options.duplicates = Duplicates::keep;
      const LoadedData data = load_data(options);
      EXPECT_THAT(data.notes, Contains(HasSubstr("rows are duplicates of earlier ones")));
      for (const Split& split : data.folds.empty() ? std::vector{data.split} : data.folds)
        expect_together(data.set, split, "store, " + std::to_string(folds));
    }
  }
  stored_with.split = SplitKind::random;
  stored(text, stored_with);
  LoadOptions options = with(Duplicates::keep);
  options.paths = {folder.file("table.h5")};
  EXPECT_THAT(message_of<UsageError>([&] { load_data(options); }), HasSubstr("the store's split"));
}

TEST_F(DuplicatesTest, SplitsFileOfAStoreRefersToRowsOfItsSource) {
  stored(kTable);  // rows 2, 4 and 5 are merged, row 6 is rejected
  LoadOptions options;
  options.paths = {folder.file("table.h5")};
  options.splits_file = folder.write("s.json", R"({"train": "0-3", "val": [6], "test": [4, 7]})");
  const LoadedData all = load_data(options);
  EXPECT_THAT(all.warnings, Contains(HasSubstr("3 rows of the store's source are not in the store")));
  EXPECT_THAT(all.split.train, ElementsAre(0, 1, 2));
  EXPECT_THAT(all.split.test, ElementsAre(3));
  options.limit = 2;
  EXPECT_THAT(load_data(options).split.train, ElementsAre(0, 1)) << "the rows are those before the limit";
  stored(kTable, with(Duplicates::keep));
  EXPECT_THAT(load_data(options).warnings, Not(Contains(HasSubstr("not in the store"))));
  stored(std::string(kTable) + "i,CCO,1\n");  // row 8, which is merged, too
  options.splits_file = folder.write("s.json", R"({"train": "0-3", "val": [6], "test": [4, 7, 8]})");
  EXPECT_THAT(load_data(options).warnings, Contains(HasSubstr("4 rows of the store's source are not in the store")));
}

TEST_F(DuplicatesTest, DrawnValidationSetKeepsDuplicatesTogether) {
  for (const Duplicates rule : {Duplicates::mean, Duplicates::keep}) {
    LoadOptions options = with(rule);
    options.target_columns = {"active"};
    options.split_sizes = {0.5, 0.5, 0};
    options.paths = {folder.write("train.csv", random_table(1)),
                     folder.write("test.csv", "smiles,active\nF,0\nCl,1\n")};
    const LoadedData data = load_data(options);
    expect_together(data.set, data.split, std::string(to_string(rule)));
    EXPECT_THAT(data.split.test, SizeIs(2));
    EXPECT_GT(data.split.valid.size(), data.split.train.size() / 2);
  }
}

TEST_F(DuplicatesTest, NamedDataSetsKeepAllRows) {
  LoadOptions options;
  options.paths = {"demo"};
  options.limit = 200;
  const LoadedData data = load_data(options);
  EXPECT_EQ(data.set.size(), 200);
  EXPECT_THAT(data.repeated, IsEmpty());
}

}  // namespace
}  // namespace molgraph
