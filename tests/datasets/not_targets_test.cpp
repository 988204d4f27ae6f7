// Numeric columns that are left out of the targets by default; units and commas in numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "datasets/load.hpp"
#include "datasets/tables/not_targets.hpp"
#include "datasets/tables/output_columns.hpp"
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
using ::testing::SizeIs;

using Cells = std::vector<std::string>;

class NotTargetsTest : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  /// Loads a table of alkanes with these cells as its only other column.
  LoadedData load_cells(const Cells& cells, LoadOptions options = {}) { return load_text(table_of(cells), options); }
  static std::string table_of(const Cells& cells) {
    std::string text = "smiles\ty\n";
    for (std::size_t r = 0; r < cells.size(); ++r) text += std::string(r + 1, 'C') + "\t" + cells[r] + "\n";
    return text;
  }
  std::string error_of(const Cells& cells, LoadOptions options = {}) {
    return message_of<DataError>([&] { load_cells(cells, options); });
  }
  ScratchFolder folder;
};

ColumnStats stats_of(const std::string& name, const Cells& cells) {
  ColumnStats stats{.name = name, .checks_distinct = true};
  for (std::size_t r = 0; r < cells.size(); ++r) stats.add(cells[r], "t.csv", static_cast<std::int64_t>(r));
  return stats;
}

/// Distinct whole numbers in a mixed order. About half of the numbers in their range are missing.
Cells numbered(int count) {
  Cells cells;
  for (int k = 0; k < count; ++k) cells.push_back(std::to_string(1000 + 2 * ((k * 7) % count) - (k % 3 == 0 ? 1 : 0)));
  return cells;
}

TEST(NotMeasured, RecognisesIdentifiersByName) {
  for (const char* name : {"Molecule_ID", "moleculeId", "compound id", "PubChem CID", "mol_idx", "ID2 id"})
    EXPECT_TRUE(why_not_measured(stats_of(name, {"7", "7", "9"})).by_name) << name;
  for (const char* name : {"acid", "fluid", "hybrid", "indexed", "yield", "narrow", "lipid", "Ki"})
    EXPECT_EQ(why_not_measured(stats_of(name, {"7", "8", "9"})).why, "") << name;
  for (const char* name : {"row_index", "rowIndex", "Wiener index"}) {
    EXPECT_TRUE(why_not_measured(stats_of(name, {"7", "8", "9"})).by_name) << name;
    EXPECT_EQ(why_not_measured(stats_of(name, {"7", "7", "9"})).why, "") << name << " with two equal values";
  }
  EXPECT_EQ(why_not_measured(stats_of("refractive_index", {"1.33", "1.4"})).why, "") << "not whole numbers";
}

TEST(NotMeasured, RecognisesYearsByNameAndValue) {
  EXPECT_EQ(why_not_measured(stats_of("Year", {"1999", "2024", ""})).why, "a year");
  EXPECT_EQ(why_not_measured(stats_of("yield per year", {"12", "2024"})).why, "");
  EXPECT_EQ(why_not_measured(stats_of("y", {"1999", "2024"})).why, "");
}

TEST(NotMeasured, RecognisesConsecutiveWholeNumbers) {
  const auto why = [](Cells cells) { return why_not_measured(stats_of("registry", cells)).why; };
  const Cells all = numbered(50);
  ASSERT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 50u);
  EXPECT_EQ(why(all), "consecutive whole numbers");
  EXPECT_EQ(why(Cells(all.begin(), all.end() - 1)), "") << "too few rows";
  for (const char* cell : {"", "1013.5"}) {
    Cells cells = all;
    cells[40] = cell;
    EXPECT_EQ(why(cells), "") << "an identifier is a whole number in each row: '" << cell << "'";
  }
  Cells cells = all;
  cells[40] = cells[3];
  EXPECT_EQ(why(cells), "") << "two values are equal";
  Cells concentrations;
  for (int k = 0; k < 60; ++k) concentrations.push_back(std::to_string(3 * k * k + 7));
  EXPECT_EQ(why(concentrations), "") << "distinct, but far apart";
}

TEST(NotMeasured, RecognisesConstants) {
  EXPECT_EQ(why_not_measured(stats_of("T", Cells(10, "25"))).why, "constant");
  EXPECT_EQ(why_not_measured(stats_of("T", Cells(9, "25"))).why, "");
  Cells cells(10, "25");
  cells[9] = "26";
  EXPECT_EQ(why_not_measured(stats_of("T", cells)).why, "");
}

TEST_F(NotTargetsTest, NotesNameLeftOutColumns) {
  std::string text = "smiles,Molecule_ID,y,year,pH,plate\n";
  for (int r = 0; r < 60; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + std::to_string(r / 2) + "," +
            std::to_string(0.5 * (r % 7)) + "," + std::to_string(2000 + r % 5) + ",7.4," + std::to_string(900 - r) +
            "\n";
  const LoadedData data = load_text(text);
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("'Molecule_ID' (an identifier)"), HasSubstr("'year' (a year)"),
                                         HasSubstr("'pH' (constant)"), HasSubstr("'plate' (consecutive whole numbers)"),
                                         HasSubstr("--target-columns"))));
  LoadOptions options;
  options.target_columns = {"pH", "year"};
  EXPECT_THAT(load_text(text, options).set.task.names, ElementsAre("pH", "year"))
      << "a named column overrides the rules";
}

TEST_F(NotTargetsTest, OnlyColumnIsUsedUnlessItsNameExcludesIt) {
  const LoadedData data = load_cells(numbered(50));
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.warnings, Contains(HasSubstr("no other columns: 'y' (consecutive whole numbers)")));
  EXPECT_THAT(data.notes, Not(Contains(HasSubstr("left out"))));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,mol_id\nC,1\nCC,2\n"); }),
              AllOf(HasSubstr("no column of numbers"), HasSubstr("'mol_id' (an identifier)")));
}

TEST_F(NotTargetsTest, DescriptorsAreRecognisedByTheirValues) {
  std::string text = "smiles,weight_g,almost,y\n";
  for (int r = 1; r <= 30; ++r) {
    const double weight = 16.043 + 14.027 * (r - 1);
    char cells[64];
    std::snprintf(cells, sizeof cells, "%.2f,%.2f", weight, r == 17 ? weight + 1 : weight);
    text += std::string(static_cast<std::size_t>(r), 'C') + "," + cells + "," + std::to_string(r % 5) + ".5\n";
  }
  const LoadedData data = load_text(text);
  EXPECT_THAT(data.set.task.names, ElementsAre("almost", "y"));
  EXPECT_THAT(data.notes, Contains(HasSubstr("'weight_g' (the descriptor MolWt)")));
}

TEST_F(NotTargetsTest, SmallNumbersAreNotADescriptorOfZeros) {
  std::string text = "smiles,ic50_M,y\n";
  for (int r = 1; r <= 30; ++r)
    text += std::string(static_cast<std::size_t>(r), 'C') + "," + std::to_string(1 + r % 9) +
            (r % 2 ? "e-06" : ".5e-07") + "," + std::to_string(r % 5) + ".5\n";
  EXPECT_THAT(load_text(text).set.task.names, ElementsAre("ic50_M", "y"));
}

TEST_F(NotTargetsTest, MoreThanTwentyColumnsMustBeNamed) {
  const auto table = [](int columns) {
    std::string text = "smiles";
    for (int t = 0; t < columns; ++t) text += ",t" + std::to_string(t);
    for (int r = 0; r < 4; ++r) {
      text += "\n" + std::string(static_cast<std::size_t>(r + 1), 'C');
      for (int t = 0; t < columns; ++t) text += "," + std::to_string(r + t) + ".5";
    }
    return text + "\n";
  };
  EXPECT_THAT(load_text(table(20)).set.task.names, SizeIs(20));
  EXPECT_THAT(message_of<UsageError>([&] { load_text(table(21)); }),
              AllOf(HasSubstr("21 columns"), HasSubstr("'t0'"), HasSubstr("--target-columns all")));
  LoadOptions options;
  options.target_columns = {"all"};
  EXPECT_THAT(load_text(table(21), options).set.task.names, SizeIs(21));
  options.paths = {folder.file("table.csv")};
  load_to_store(options, folder.file("all.h5"));
  options.paths = {folder.file("all.h5")};
  EXPECT_THAT(load_data(options).set.task.names, SizeIs(21)) << "all columns of the store";
  options.target_columns = {"ALL"};
  EXPECT_THAT(load_text("smiles,all,y\nC,1.5,2\nCC,2.5,3\n", options).set.task.names, ElementsAre("all"));
}

TEST_F(NotTargetsTest, SplitColumnIsSuggested) {
  for (const char* name : {"set", "my_split"}) {
    const std::string text =
        std::string("smiles,y,") + name + "\nC,1.5,train\nCC,2.5,Train\nCCC,3.5,valid\nCCCC,4.5,test\n";
    EXPECT_THAT(load_text(text).notes, Contains(HasSubstr(std::string("--splits-column ") + name))) << name;
    LoadOptions options;
    options.splits_column = name;
    const LoadedData data = load_text(text, options);
    EXPECT_THAT(data.split.train, SizeIs(2)) << "the suggested option works";
    EXPECT_THAT(data.notes, Not(Contains(HasSubstr("--splits-column"))));
  }
  for (const char* other : {"bus", "valid"})
    EXPECT_THAT(load_text(std::string("smiles,y,set\nC,1.5,train\nCC,2.5,") + other + "\n").notes,
                Not(Contains(HasSubstr("--splits-column"))));
  LoadOptions options;
  options.target_columns = {"y"};
  EXPECT_THAT(load_text("smiles,y,set\nC,1.5,train\nCC,2.5,test\n", options).notes,
              Contains(HasSubstr("--splits-column set")));
}

TEST_F(NotTargetsTest, UnusedColumnsMayHaveTheSameName) {
  LoadOptions options;
  options.target_columns = {"y"};
  const LoadedData data = load_text("smiles,y,note,Note\nC,1.5,train,a\nCC,2.5,test,b\n", options);
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.notes, Not(Contains(HasSubstr("--splits-column"))));
}

TEST_F(NotTargetsTest, ValuesAreNotJudgedInWideTables) {
  for (const int columns : {500, 1001}) {
    std::string text = "smiles";
    for (int t = 0; t < columns; ++t) text += ",t" + std::to_string(t);
    for (int r = 0; r < 50; ++r) {
      text += "\n" + std::string(static_cast<std::size_t>(r + 1), 'C');
      for (int t = 0; t < columns; ++t) text += "," + std::to_string(t == 7 ? r : (r * r + t) % 97);
    }
    LoadOptions options;
    options.target_columns = {"all"};
    const auto names = load_text(text + "\n", options).set.task.names;
    EXPECT_EQ(std::ranges::count(names, "t7"), columns > 1000) << columns;
  }
}

TEST_F(NotTargetsTest, CommonUnitOfAllCellsIsRead) {
  const LoadedData data = load_cells({"5 nM", "1,200 nM", ">50", "", "0.5nM", "0", "2.5 nM"});
  EXPECT_EQ(data.set.task.units, Cells{"nM"});
  EXPECT_EQ(data.set.targets[1], 1200);
  EXPECT_EQ(data.set.targets[4], 0.5);
  EXPECT_EQ(data.set.targets[5], 0) << "0 needs no unit";
  EXPECT_EQ(data.set.bound[2], 1);
  EXPECT_THAT(data.notes, Contains(HasSubstr("the unit of 'y' is nM")));
}

TEST_F(NotTargetsTest, DifferentUnitsInAColumnAreAnError) {
  LoadOptions named;
  named.target_columns = {"y"};
  EXPECT_THAT(error_of({"5 nM", "7 uM"}, named), AllOf(HasSubstr("row 2"), HasSubstr("'nM' in row 1")));
  EXPECT_THAT(error_of({"5 nM", "7"}, named), AllOf(HasSubstr("row 2"), HasSubstr("no unit")));
  EXPECT_THAT(error_of({"5 nM", "7 nM", "high"}, named), AllOf(HasSubstr("row 3"), HasSubstr("high")));
  EXPECT_THAT(error_of({"5 nM", "7 uM"}), HasSubstr("its units differ: 5 nM in row 1, 7 uM in row 2"));
  EXPECT_THAT(error_of({"5 \u00b10.1", "7 \u00b10.1"}), Not(HasSubstr("unit"))) << "an uncertainty is not a unit";
}

TEST_F(NotTargetsTest, OtherWordsAfterANumberAreText) {
  const std::string text = "smiles,label,dose\nC,active,5 mg\nCC,inactive,10 mg\nCCC,active,20 mg\n";
  EXPECT_THAT(load_text(text).set.task.names, ElementsAre("label")) << "a dose is not a measurement";
  LoadOptions named;
  named.target_columns = {"dose"};
  const LoadedData doses = load_text(text, named);
  EXPECT_EQ(doses.set.task.kind, TaskKind::regression);
  EXPECT_EQ(doses.set.task.units, Cells{"mg"});
  named.target_columns = {"y"};
  EXPECT_EQ(load_cells({"2D", "3D", "2D"}, named).set.task.kind, TaskKind::multiclass) << "two classes";
  EXPECT_THAT(error_of({"1st", "2nd", "3rd"}, named), HasSubstr("-t multiclass"));
  EXPECT_THAT(error_of({"1abc", "2xyz", "4qrs"}), Not(HasSubstr("unit"))) << "codes";
}

TEST_F(NotTargetsTest, CommasMaySeparateThousands) {
  for (const Cells& cells : {Cells{"1,000", "250", "12,500"}, Cells{"1,000", "2,000,000"}, Cells{"1,000", "2,500.5"},
                             Cells{"1,000", ">20.5"}, Cells{"1,000", "5"}}) {
    const LoadedData data = load_cells(cells);
    EXPECT_EQ(data.set.targets[0], 1000) << cells[1];
    EXPECT_THAT(data.notes, Contains(HasSubstr("separate thousands: 1,000 in row 1"))) << cells[1];
  }
  EXPECT_THAT(error_of({"1,000", "2,500"}), AllOf(HasSubstr("write 1000"), HasSubstr("write 1.000")))
      << "either one thousand or one with three decimals";
  EXPECT_THAT(error_of({"2,125", "5", "2,375", "0"}), AllOf(HasSubstr("write 2125"), HasSubstr("write 2.125")))
      << "decimals without trailing zeros look like this";
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles;y\nC;1,720\nCC;3,000\nCCC;4\n"); }),
              AllOf(HasSubstr("write 1720"), HasSubstr("write 1.720")))
      << "where semicolons separate cells, commas usually separate decimals";
  EXPECT_EQ(load_text("smiles;y\nC;1,720\nCC;3,000.5\nCCC;4\n").set.targets[0], 1720);
  EXPECT_THAT(error_of({"250", "1,000", "1500"}), AllOf(HasSubstr("row 2"), HasSubstr("'1500' in row 3")));
  EXPECT_THAT(error_of({"1,000", "0,25"}), AllOf(HasSubstr("row 2"), HasSubstr("'1,000' in row 1")));
  EXPECT_THAT(error_of({"1,5", "2,5"}), HasSubstr("write decimal points (1.5)"));
  EXPECT_THAT(error_of({"1,000", "0,250", "3"}), Not(HasSubstr("write 1000"))) << "0,250 has a decimal comma";
}

TEST(OutputColumns, AreRecognisedNextToTheirPrediction) {
  const Cells columns{"smiles", "Y_pred", "y_low", "dose_low", "y_std_a"};
  const OutputColumns outputs(columns);
  for (const char* name : {"y_pred", "y_low", "Y_HIGH", "y_std_a", "y_atoms", "y_fragments", "domain_y", "rollout",
                           "fragment_of_atom", "molgraph_y_low"})
    EXPECT_TRUE(outputs.contains(name)) << name;
  for (const char* name : {"y", "dose_low", "dose_std_a", "domain_z", "smiles", "atoms", "fragments"})
    EXPECT_FALSE(outputs.contains(name)) << name;
}

}  // namespace
}  // namespace molgraph
