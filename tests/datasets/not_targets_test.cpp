// Columns of numbers that are left out of the targets where nobody names one; units and commas in numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  /// Chains of carbons with the cells in one column.
  LoadedData load_cells(const Cells& cells, LoadOptions options = {}) { return load_text(table_of(cells), options); }
  static std::string table_of(const Cells& cells) {
    std::string text = "smiles;y\n";
    for (std::size_t r = 0; r < cells.size(); ++r) text += std::string(r + 1, 'C') + ";" + cells[r] + "\n";
    return text;
  }
  std::string error_of(const Cells& cells, LoadOptions options = {}) {
    return message_of<DataError>([&] { load_cells(cells, options); });
  }
  ScratchFolder folder;
};

ColumnStats stats_of(const std::string& name, const Cells& cells) {
  ColumnStats stats{.name = name};
  for (std::size_t r = 0; r < cells.size(); ++r) stats.add(cells[r], "t.csv", static_cast<std::int64_t>(r));
  return stats;
}

Cells whole_numbers(int count, int step) {
  Cells cells;
  for (int k = 0; k < count; ++k) cells.push_back(std::to_string(1000 + (k * step) % 997));
  return cells;
}

TEST(WhyNoTarget, NamesThatSayIdentifier) {
  for (const char* name :
       {"Molecule_ID", "moleculeId", "compound id", "PubChem CID", "row_index", "rowIndex", "ID2 id"})
    EXPECT_TRUE(why_no_target(stats_of(name, {"7", "7", "9"})).by_name) << name;
  for (const char* name : {"acid", "fluid", "hybrid", "indexed", "yield", "narrow", "lipid", "Ki"})
    EXPECT_EQ(why_no_target(stats_of(name, {"7", "7", "9"})).why, "") << name;
  EXPECT_EQ(why_no_target(stats_of("refractive_index", {"1.33", "1.4"})).why, "") << "no whole numbers";
}

TEST(WhyNoTarget, YearsByNameAndValue) {
  EXPECT_EQ(why_no_target(stats_of("Year", {"1999", "2024", ""})).why, "a year");
  EXPECT_EQ(why_no_target(stats_of("yield per year", {"12", "2024"})).why, "");
  EXPECT_EQ(why_no_target(stats_of("y", {"1999", "2024"})).why, "");
}

TEST(WhyNoTarget, WholeNumbersThatAreAllDifferent) {
  EXPECT_THAT(why_no_target(stats_of("registry", whole_numbers(50, 31))).why, HasSubstr("all different"));
  EXPECT_EQ(why_no_target(stats_of("registry", whole_numbers(49, 31))).why, "") << "too few to tell";
  Cells cells = whole_numbers(50, 31);
  cells[40] = cells[3];
  EXPECT_EQ(why_no_target(stats_of("registry", cells)).why, "") << "two are the same";
  cells = whole_numbers(50, 31);
  cells[40] = "";
  EXPECT_EQ(why_no_target(stats_of("registry", cells)).why, "") << "an identifier has no gaps";
  cells[40] = "12.5";
  EXPECT_EQ(why_no_target(stats_of("registry", cells)).why, "");
}

TEST(WhyNoTarget, Constants) {
  EXPECT_EQ(why_no_target(stats_of("T", Cells(10, "25"))).why, "constant");
  EXPECT_EQ(why_no_target(stats_of("T", Cells(9, "25"))).why, "");
  Cells cells(10, "25");
  cells[9] = "26";
  EXPECT_EQ(why_no_target(stats_of("T", cells)).why, "");
}

TEST_F(NotTargetsTest, AreLeftOutAndNamed) {
  std::string text = "smiles,Molecule_ID,y,year,pH,plate\n";
  for (int r = 0; r < 60; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + std::to_string(r / 2) + "," +
            std::to_string(0.5 * (r % 7)) + "," + std::to_string(2000 + r % 5) + ",7.4," + std::to_string(900 - r) +
            "\n";
  const LoadedData data = load_text(text);
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("'Molecule_ID' (an identifier)"), HasSubstr("'year' (a year)"),
                             HasSubstr("'pH' (constant)"), HasSubstr("'plate' (an identifier: whole numbers"),
                             HasSubstr("--target-columns"))));
  LoadOptions options;
  options.target_columns = {"pH", "year"};
  EXPECT_THAT(load_text(text, options).set.task.names, ElementsAre("pH", "year")) << "a chosen column wins";
}

TEST_F(NotTargetsTest, TheOnlyColumnStaysUnlessItsNameForbids) {
  const LoadedData data = load_cells(whole_numbers(50, 31));
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.notes, Not(Contains(HasSubstr("left out"))));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,mol_id\nC,1\nCC,2\n"); }),
              HasSubstr("no column of numbers"));
}

TEST_F(NotTargetsTest, DescriptorsAreKnownByTheirValues) {
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

TEST_F(NotTargetsTest, MoreThanTwentyAreAQuestion) {
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
  EXPECT_THAT(load_data(options).set.task.names, SizeIs(21)) << "all of a store's";
  options.target_columns = {"ALL"};
  EXPECT_THAT(load_text("smiles,all,y\nC,1.5,2\nCC,2.5,3\n", options).set.task.names, ElementsAre("all"));
}

TEST_F(NotTargetsTest, PartsOfASplitAreHintedAt) {
  for (const char* name : {"set", "my_split"}) {
    const std::string text =
        std::string("smiles,y,") + name + "\nC,1.5,train\nCC,2.5,Train\nCCC,3.5,valid\nCCCC,4.5,test\n";
    EXPECT_THAT(load_text(text).notes, Contains(HasSubstr(std::string("--splits-column ") + name))) << name;
    LoadOptions options;
    options.splits_column = name;
    const LoadedData data = load_text(text, options);
    EXPECT_THAT(data.split.train, SizeIs(2)) << "what the hint says works";
    EXPECT_THAT(data.notes, Not(Contains(HasSubstr("--splits-column"))));
  }
  EXPECT_THAT(load_text("smiles,y,set\nC,1.5,train\nCC,2.5,bus\n").notes, Not(Contains(HasSubstr("--splits-column"))));
}

TEST_F(NotTargetsTest, AUnitOfAllCellsIsRead) {
  const LoadedData data = load_cells({"5 nM", "1,200 nM", ">50 nM", "", "0.5nM"});
  EXPECT_EQ(data.set.task.units, Cells{"nM"});
  EXPECT_EQ(data.set.targets[1], 1200);
  EXPECT_EQ(data.set.targets[4], 0.5);
  EXPECT_EQ(data.set.bound[2], 1);
  EXPECT_THAT(data.notes, Contains(HasSubstr("the unit of 'y' is nM")));
}

TEST_F(NotTargetsTest, OtherUnitsAreNoTargetAndAnErrorByName) {
  LoadOptions named;
  named.target_columns = {"y"};
  EXPECT_THAT(error_of({"5 nM", "7 uM"}, named), AllOf(HasSubstr("row 2"), HasSubstr("'nM' in row 1")));
  EXPECT_THAT(error_of({"5 nM", "7"}, named), AllOf(HasSubstr("row 2"), HasSubstr("no unit")));
  EXPECT_THAT(error_of({"5 nM", "7 nM", "high"}, named), AllOf(HasSubstr("row 3"), HasSubstr("high")));
  EXPECT_THAT(error_of({"5 nM", "7 uM"}), HasSubstr("the unit 'nM' in row 1, another in row 2"));
  EXPECT_THAT(error_of({"2 doses a day", "3 doses a day"}), Not(HasSubstr("unit")));
}

TEST_F(NotTargetsTest, CommasBetweenThousands) {
  for (const Cells& cells : {Cells{"1,000", "250", "12,500"}, Cells{"1,000", "2,000,000"}, Cells{"1,000", "2,500.5"},
                             Cells{"1,000", ">20.5"}}) {
    const LoadedData data = load_cells(cells);
    EXPECT_EQ(data.set.targets[0], 1000) << cells[1];
    EXPECT_THAT(data.notes, Contains(HasSubstr("separate thousands: 1,000 in row 1"))) << cells[1];
  }
  EXPECT_THAT(error_of({"1,000", "2,500"}), AllOf(HasSubstr("write 1000"), HasSubstr("write 1.000")))
      << "one thousand, or one with three decimals";
  EXPECT_THAT(error_of({"250", "1,000", "1500"}), AllOf(HasSubstr("row 2"), HasSubstr("'1500' in row 3")));
  EXPECT_THAT(error_of({"1,000", "0,25"}), AllOf(HasSubstr("row 2"), HasSubstr("'1,000' in row 1")));
  EXPECT_THAT(error_of({"1,5", "2,5"}), HasSubstr("write points (1.5)"));
  EXPECT_THAT(error_of({"1,000", "0,250", "3"}), Not(HasSubstr("write 1000"))) << "0,250 has a decimal comma";
}

TEST(OutputColumns, AreKnownBesideTheirPrediction) {
  const Cells columns{"smiles", "Y_pred", "y_low", "dose_low", "y_std_a"};
  const OutputColumns outputs(columns);
  for (const char* name : {"y_pred", "y_low", "Y_HIGH", "y_std_a", "y_atoms", "domain_y", "rollout", "molgraph_y_low"})
    EXPECT_TRUE(outputs.contains(name)) << name;
  for (const char* name : {"y", "dose_low", "dose_std_a", "domain_z", "smiles", "atoms"})
    EXPECT_FALSE(outputs.contains(name)) << name;
}

}  // namespace
}  // namespace molgraph
