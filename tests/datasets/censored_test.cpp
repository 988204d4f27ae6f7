// Censored labels such as ">50": parsing of cells, choice of target columns, and storage in sets and stores.
#include "datasets/censored.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "datasets/tables/labels.hpp"
#include "datasets/tables/targets.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/datasets/store_fixture.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::Not;
using testing::ScratchFolder;

TEST(CensoredCells, SignsNumbersAndUnits) {
  struct Case {
    const char* cell;
    double number;
    int bound;
    bool approximate = false;
    const char* unit = "";
  };
  for (const Case& c : {Case{">50", 50, 1},
                        Case{" < 0.1 ", 0.1, -1},
                        Case{">=1e3", 1000, 1},
                        Case{"<= -2.5", -2.5, -1},
                        Case{"\u2265 10", 10, 1},
                        Case{"\u22643", 3, -1},
                        Case{">+5", 5, 1},
                        Case{">>.5", .5, 1},
                        Case{"~3", 3, 0, true},
                        Case{"\u2248 3", 3, 0, true},
                        Case{"=7", 7, 0},
                        Case{">~50", 50, 1, true},
                        Case{"> 50 nM", 50, 1, false, "nM"},
                        Case{">50nM", 50, 1, false, "nM"},
                        Case{"<5%", 5, -1, false, "%"},
                        Case{"<5 cm2", 5, -1, false, "cm2"},
                        Case{"<1 \u00b5M", 1, -1, false, "\u00b5M"},
                        Case{"50", 50, 0},
                        Case{"5 nM", 5, 0, false, "nM"},
                        Case{"-2%", -2, 0, false, "%"},
                        Case{"1,000", 1000, 0},
                        Case{">10,000 nM", 10000, 1, false, "nM"},
                        Case{"-1,234,567.25", -1234567.25, 0}}) {
    const auto read = measured_number(c.cell);
    ASSERT_TRUE(read) << c.cell;
    EXPECT_EQ(read->number, c.number) << c.cell;
    EXPECT_EQ(read->bound, c.bound) << c.cell;
    EXPECT_EQ(read->approximate, c.approximate) << c.cell;
    EXPECT_EQ(read->unit, c.unit) << c.cell;
  }
  for (const char* cell :
       {">",           "",           "nM",     "><5",      "<>5",      ">1,5",     ">1.000,5", ">50-100",
        ">50 or more", "> 50 (n=3)", ">0x10",  ">1e99",    ">b",       "<b>x</b>", ">5 6",     ">-",
        "1,00",        "0,123",      "1,0000", "1,000,00", "1000,000", "1,000.",   ",000",     "5 6"})
    EXPECT_FALSE(measured_number(cell)) << cell;
}

class CensoredLabels : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  std::string error_of(const std::string& content, const LoadOptions& options = {}) {
    return message_of<DataError>([&] { load_text(content, options); });
  }
  ScratchFolder folder;
};

/// y is exact; ic50 has upper and lower limits, a missing cell and an approximate value.
const char* const kCensoredTable =
    "smiles,y,ic50,note\nC,1.5,>50,a\nCC,2.5,12,b\nCCC,3,>=20,c\nCCCC,4,<0.1,d\nCN,5,,e\nCO,6,~3,f\n";

TEST_F(CensoredLabels, AreReadWithTheirSigns) {
  const LoadedData data = load_text(kCensoredTable);
  EXPECT_THAT(data.set.task.names, ElementsAre("y", "ic50"))
      << "the five cells of ic50 are two numbers and three limits";
  EXPECT_EQ(data.set.task.kind, TaskKind::regression);
  EXPECT_THAT(data.set.bound, ElementsAre(0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0));
  EXPECT_EQ(data.set.targets[1], 50);
  EXPECT_EQ(data.set.targets[5], 20);
  EXPECT_EQ(data.set.targets[7], 0.1);
  EXPECT_TRUE(std::isnan(data.set.targets[9]));
  EXPECT_EQ(data.set.targets[11], 3);
  EXPECT_EQ(data.censored, 3);
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("3 censored labels: 2 with > and 1 with < in 'ic50'"),
                                         HasSubstr("--censored"))));
  EXPECT_THAT(data.warnings, Contains(AllOf(HasSubstr("approximate"), HasSubstr("'ic50' (1, such as ~3 in row 6)"))));
}

TEST_F(CensoredLabels, CanBeDroppedOrUsedAsExactValues) {
  LoadOptions options;
  options.censored = Censored::drop;
  const LoadedData dropped = load_text(kCensoredTable, options);
  EXPECT_THAT(dropped.set.bound, IsEmpty());
  EXPECT_TRUE(std::isnan(dropped.set.targets[1]) && std::isnan(dropped.set.targets[5]));
  EXPECT_EQ(dropped.set.targets[3], 12);
  EXPECT_EQ(dropped.censored, 3);
  EXPECT_THAT(dropped.notes, Contains(AllOf(HasSubstr("3 censored labels"), HasSubstr("missing"))));
  options.censored = Censored::value;
  const LoadedData values = load_text(kCensoredTable, options);
  EXPECT_THAT(values.set.bound, IsEmpty());
  EXPECT_EQ(values.set.targets[1], 50);
  EXPECT_THAT(values.notes, Contains(AllOf(HasSubstr("3 censored labels"), HasSubstr("exact"))));
}

TEST_F(CensoredLabels, ExactTablesHaveNoBoundsAndNoNote) {
  const LoadedData data = load_text("smiles,y\nC,1.5\nCC,2.5\nCCC,3\nCCCC,4\n");
  EXPECT_THAT(data.set.bound, IsEmpty());
  EXPECT_EQ(data.censored, 0);
  EXPECT_THAT(data.notes, Each(Not(HasSubstr("censored"))));
}

TEST_F(CensoredLabels, FullyCensoredColumnIsNoTargetByDefault) {
  const LoadedData data = load_text("smiles,y,ic50\nC,1.5,>50\nCC,2.5,>50\nCCC,3,<1\nCCCC,4,>20\n");
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.warnings,
              Contains(HasSubstr("'ic50' (0 of 4 cells are numbers, 4 censored, such as >50 in row 1)")));
  LoadOptions named;
  named.target_columns = {"ic50"};
  const LoadedData chosen = load_text("smiles,y,ic50\nC,1.5,>50\nCC,2.5,>50\nCCC,3,<1\nCCCC,4,>20\n", named);
  EXPECT_EQ(chosen.censored, 4);
  EXPECT_THAT(chosen.warnings, Contains(HasSubstr("'ic50' has only censored labels in the training set")));
}

TEST_F(CensoredLabels, TextAfterASignIsAnErrorWithRowAndColumn) {
  EXPECT_THAT(error_of("smiles,y\nC,1\nCC,2\nCCC,>high\nCCCC,3\n"),
              AllOf(HasSubstr("row 3"), HasSubstr("'y' has a cell that is not a number"), HasSubstr(">high")));
  EXPECT_THAT(error_of("smiles,y\nC,1\nCC,2\nCCC,>50-60\nCCCC,3\n"),
              AllOf(HasSubstr("row 3"), HasSubstr("one number and, optionally, a unit")));
  EXPECT_THAT(error_of("smiles,y\nC,1\nCC,>5 nM\nCCC,>6 uM\nCCCC,3\n"),
              AllOf(HasSubstr("row 3"), HasSubstr("a unit here that differs from 'nM' in row 2"), HasSubstr(">6 uM")));
  EXPECT_THAT(load_text("smiles,y\nC,1\nCC,>5 nM\nCCC,>6 nM\nCCCC,3\n").warnings,
              Contains(AllOf(HasSubstr("unit"), HasSubstr("'y' (nM in row 2)"))));
}

TEST_F(CensoredLabels, CannotBeClasses) {
  LoadOptions options;
  options.task = TaskKind::binary;
  EXPECT_THAT(error_of("smiles,y\nC,1\nCC,0\nCCC,>1\nCCCC,1\n", options), AllOf(HasSubstr("row 3"), HasSubstr(">1")));
  options.task = TaskKind::multiclass;
  EXPECT_THAT(error_of("smiles,y\nC,1\nCC,2\nCCC,>2\nCCCC,1\n", options),
              AllOf(HasSubstr("row 3"), HasSubstr("a limit, not a class")));
  options.target_columns = {"y"};
  const LoadedData bins = load_text("smiles,y\nC,<10\nCC,10-50\nCCC,>50\nCCCC,>50\n", options);
  EXPECT_EQ(bins.set.task.classes, 3) << "next to other words, words that begin with a sign are classes";
}

TEST_F(CensoredLabels, WarningsAboutSetsCountOnlyExactLabels) {
  LoadOptions options;
  options.splits_column = "part";
  const LoadedData data = load_text(
      "smiles,y,part\nC,1,train\nCC,>2,train\nCCC,3,train\nCCCC,>4,val\nCCCCC,>5,test\nCCCCCC,6,test\n", options);
  EXPECT_THAT(data.warnings, Contains(HasSubstr("'y' has no label in the validation set")));
  EXPECT_THAT(data.warnings, Not(Contains(HasSubstr("no label in the test set"))));
}

TEST_F(CensoredLabels, StoresKeepCensoredLabels) {
  LoadOptions options;
  options.paths = {folder.write("table.csv", kCensoredTable)};
  const StoreReport report = load_to_store(options, folder.file("a.h5"));
  EXPECT_THAT(report.notes, Contains(AllOf(HasSubstr("3 censored labels"), HasSubstr("kept"))));
  LoadOptions from;
  from.paths = {folder.file("a.h5")};
  const LoadedData table = load_data(options), store = load_data(from);
  EXPECT_EQ(store.set.bound, table.set.bound);
  EXPECT_EQ(store.censored, 3);
  from.target_columns = {"ic50"};
  EXPECT_THAT(load_data(from).set.bound, ElementsAre(1, 0, 1, -1, 0, 0));
  from.limit = 2;
  EXPECT_THAT(load_data(from).set.bound, ElementsAre(1, 0));
  from.censored = Censored::drop;
  EXPECT_THAT(load_data(from).set.bound, IsEmpty());
  from.limit = 0;
  from.task = TaskKind::binary;
  EXPECT_THAT(message_of<DataError>([&] { load_data(from); }), HasSubstr("censored"));
}

TEST_F(CensoredLabels, StoresContainTheBounds) {
  MoleculeSet set = testing_store::make_set({3, 4, 5, 6});
  const auto written = [&](const std::vector<std::vector<std::int8_t>>& bounds) {
    const std::string path = folder.file("bounds.h5");
    StoreWriter writer(path, set.featurizer, set.task, set.source, {.pairs = false});
    for (std::int64_t g = 0; g < set.size(); ++g) {
      const auto i = static_cast<std::size_t>(g);
      writer.add(testing_store::graph_of(set, g), set.row[i], set.id[i], set.smiles[i],
                 {set.targets[2 * i], set.targets[2 * i + 1]}, {}, bounds[i]);
    }
    writer.finish();
    return path;
  };
  EXPECT_THAT(Store(written({{}, {}, {}, {}})).load().bound, IsEmpty());
  EXPECT_THAT(Store(written({{}, {}, {0, -1}, {}})).load().bound, ElementsAre(0, 0, 0, 0, 0, -1, 0, 0))
      << "the other molecules are exact";
  for (const auto& bad : std::vector<std::vector<std::int8_t>>{{0, 2}, {-3, 0}})
    EXPECT_THAT(message_of<FileError>([&] {
                  Store(written({{}, bad, {}, {}})).load();
                }),
                HasSubstr("has the invalid bound"));
  EXPECT_THAT(message_of<FileError>([&] {
                Store(written({{1, 0}, {}, {}, {}})).load();
              }),
              HasSubstr("has the invalid bound 1"))
      << "a bound on a missing value";
}

}  // namespace
}  // namespace molgraph
