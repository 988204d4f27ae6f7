#include "datasets/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "datasets/catalogue/catalogue.hpp"
#include "datasets/store/store.hpp"
#include "datasets/system/threads.hpp"
#include "datasets/tables/targets.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::Not;
using testing::RedirectedInput;
using testing::ScratchFolder;
using ::testing::SizeIs;

// 11 rows, one with an invalid SMILES: an id, two targets (one with a missing label), a constant and a comment.
constexpr const char* kLoadedTable =
    "id,smiles,solubility,active,weight,comment\n"
    "m1,CCO,1.5,1,9,x\nm2,CCN,-2,0,9,x\nm3,c1ccccc1,0.25,1,9,x\nm4,C1CC,3,0,9,x\nm5,CC(=O)O,4,,9,x\n"
    "m6,C,5,1,9,x\nm7,CC,6,0,9,x\nm8,CCC,7,1,9,x\nm9,CCCC,8,0,9,x\nm10,CCCCC,9,1,9,x\nm11,OCCC,10,0,9,x\n";

LoadOptions options_for(const std::string& path) {
  LoadOptions options;
  options.paths = {path};
  return options;
}

class LoadTest : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, LoadOptions options = {}) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  ScratchFolder folder;
};

std::size_t split_size(const Split& split) { return split.train.size() + split.valid.size() + split.test.size(); }

TEST_F(LoadTest, LoadsATableWithDefaultOptions) {
  const LoadedData data = load_text(kLoadedTable);
  EXPECT_THAT(data.set.task.names, ElementsAre("solubility", "active"));
  EXPECT_EQ(data.set.task.kind, TaskKind::regression);
  ASSERT_EQ(data.set.size(), 10);
  EXPECT_EQ(data.set.id[0], "m1");
  EXPECT_EQ(data.set.smiles[2], "c1ccccc1");
  EXPECT_EQ(data.set.row[3], 4) << "the invalid row 3 does not change the numbers of later rows";
  EXPECT_EQ(data.set.targets[3 * 2], 4.0f);
  EXPECT_TRUE(std::isnan(data.set.targets[3 * 2 + 1]));
  EXPECT_EQ(data.set.graph(2).num_atoms, 6);
  EXPECT_EQ(data.set.featurizer.features, Features::molgraph) << "the default for tables";
  EXPECT_EQ(data.set.source.file, "table.csv");
  EXPECT_THAT(data.set.source.sha256, SizeIs(64));
  ASSERT_THAT(data.set.rejected, SizeIs(1));
  EXPECT_EQ(data.set.rejected[0].row, 3);
  EXPECT_EQ(data.set.rejected[0].text, "C1CC");
  EXPECT_EQ(data.set.rejected[0].status, "invalid_smiles");
  EXPECT_THAT(data.set.rejected[0].reason, Not(IsEmpty()));
  EXPECT_THAT(data.warnings, Contains(AllOf(HasSubstr("1 of 11 rows"), HasSubstr("row 4"), HasSubstr("C1CC"))));
  EXPECT_EQ(data.split_name, "random");
  EXPECT_EQ(split_size(data.split), 10u);
}

TEST_F(LoadTest, EmptySetIsReportedUnlessRequested) {
  LoadOptions options;
  options.paths = {folder.write("few.csv", "smiles,y,part\nC,1,train\nCC,2,train\nCCC,3,valid\n")};
  options.splits_column = "part";
  EXPECT_THAT(load_data(options).warnings, Contains("the test set is empty"));
  EXPECT_THAT(load_to_store(options, folder.file("a.h5")).warnings, ElementsAre("the test set is empty"));
  options.splits_column = "";
  options.target_columns = {"y"};
  options.split_sizes = {0.7, 0.3, 0};
  EXPECT_THAT(load_data(options).warnings, Not(Contains(HasSubstr("set is empty"))));
}

TEST_F(LoadTest, ResultDoesNotDependOnTheNumberOfThreads) {
  std::string text = "smiles,y\n";
  for (int r = 0; r < 3000; ++r) {
    const std::string chain(static_cast<std::size_t>(1 + r % 40), 'C');
    text += chain + (r % 7 ? "" : "((") + "," + std::to_string(r) + "\n";
  }
  LoadOptions options;
  options.threads = 1;
  const LoadedData one = load_text(text, options);
  options.threads = 5;
  const LoadedData five = load_text(text, options);
  EXPECT_EQ(one.set.row, five.set.row);
  EXPECT_EQ(one.set.atoms, five.set.atoms);
  EXPECT_EQ(one.set.targets, five.set.targets);
  EXPECT_EQ(one.split.test, five.split.test);
  EXPECT_EQ(one.set.rejected.size(), five.set.rejected.size());
  EXPECT_TRUE(std::ranges::is_sorted(five.set.row));
  EXPECT_EQ(five.set.id[0], "2") << "without an id column, the id is the 1-based row number, as in messages";
}

TEST_F(LoadTest, SameMoleculeInTwoSetsIsReported) {
  LoadOptions options;
  options.splits_column = "part";
  const LoadedData data =
      load_text("smiles,y,part\nCCO,1,train\nC,2,train\nOCC,3,test\nCN,4,val\nCC(O)C,5,\n", options);
  EXPECT_EQ(data.split_name, "column");
  EXPECT_THAT(data.split.train, ElementsAre(0, 1));
  EXPECT_THAT(data.split.valid, ElementsAre(3));
  EXPECT_THAT(data.split.test, ElementsAre(2));
  EXPECT_EQ(data.set.size(), 5) << "a row left out of the split stays in the set";
  EXPECT_THAT(data.warnings, Contains(AllOf(HasSubstr("1 molecule is in two sets"), HasSubstr("CCO"),
                                            HasSubstr("row 1 in train"), HasSubstr("row 3 in test"))));
  const LoadedData thrice = load_text("smiles,y,part\nCCO,1,train\nOCC,2,train\nC(O)C,3,test\nCN,4,val\n", options);
  EXPECT_THAT(thrice.warnings,
              Contains(AllOf(HasSubstr("1 molecule "), HasSubstr("row 1 in train and row 3 in test"))));
  // One chiral molecule with two spellings whose chiral tags differ, and its mirror image.
  const LoadedData chiral =
      load_text("smiles,y,part\nC[C@H](F)O,1,train\nC[C@@H](O)F,2,test\nC[C@@H](F)O,3,test\nCN,4,val\n", options);
  EXPECT_THAT(chiral.warnings,
              Contains(AllOf(HasSubstr("1 molecule "), HasSubstr("row 1 in train and row 2 in test"))));
  const LoadedData clean = load_text("smiles,y,part\nCCO,1,train\nC,2,train\nOCN,3,test\nCN,4,val\n", options);
  EXPECT_THAT(clean.warnings, Not(Contains(HasSubstr("two sets"))));
}

TEST_F(LoadTest, TargetColumnRules) {
  LoadOptions options;
  options.target_columns = {"comment"};
  const auto message = [&] { return message_of<DataError>([&] { load_text(kLoadedTable, options); }); };
  EXPECT_THAT(message(), AllOf(HasSubstr("'comment' is text"), HasSubstr("row 1")));
  options.target_columns = {"nothing"};
  EXPECT_THAT(message(), AllOf(HasSubstr("nothing"), HasSubstr("solubility")));
  options.target_columns = {"weight"};
  EXPECT_THAT(load_text(kLoadedTable, options).set.task.names, ElementsAre("weight"))
      << "a named column overrides the rule";
  options.target_columns = {"active"};
  EXPECT_EQ(load_text(kLoadedTable, options).set.task.kind, TaskKind::binary);
  options.target_columns = {"solubility"};
  options.task = TaskKind::binary;
  EXPECT_THAT(message(), AllOf(HasSubstr("row 1"), HasSubstr("1.5"), HasSubstr("neither 0 nor 1")));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles\nC\n"); }), HasSubstr("--target-columns"));
  const std::string table = ",smiles,Index,random_split_1,y,mostly_text\n0,C,1,3,2.5,1\n1,CC,2,4,,a\n2,CCC,3,5,1,b\n";
  EXPECT_THAT(load_text(table).set.task.names, ElementsAre("y"));
}

TEST_F(LoadTest, MulticlassLabelsAreSorted) {
  LoadOptions options;
  options.task = TaskKind::multiclass;
  options.target_columns = {"kind"};
  const LoadedData text = load_text("smiles,kind\nC,soluble\nCC,\nCCC,insoluble\nCCCC,soluble\n", options);
  EXPECT_THAT(text.set.task.class_labels, ElementsAre("insoluble", "soluble"));
  EXPECT_EQ(text.set.task.classes, 2);
  EXPECT_EQ(text.set.targets[0], 1.0f);
  EXPECT_TRUE(std::isnan(text.set.targets[1]));
  const LoadedData numbers = load_text("smiles,kind\nC,10\nCC,9.0\nCCC,9\n", options);
  EXPECT_THAT(numbers.set.task.class_labels, ElementsAre("9", "10"));
  EXPECT_EQ(numbers.set.targets, (std::vector<double>{1, 0, 0}));
}

TEST_F(LoadTest, StrictModeAndUnusableTablesAreErrors) {
  LoadOptions options;
  options.strict = true;
  EXPECT_THAT(message_of<DataError>([&] { load_text(kLoadedTable, options); }),
              AllOf(HasSubstr("row 4"), HasSubstr("C1CC")));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y\nxx,1\n,2\n"); }), HasSubstr("no usable molecule"));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y\n"); }), HasSubstr("no rows"));
  EXPECT_THAT(message_of<FileError>([] { load_data(options_for("moltiv")); }), HasSubstr("did you mean 'molhiv'"));
  EXPECT_THAT(message_of<UsageError>([] { load_data({}); }), HasSubstr("two or three tables"));
}

TEST_F(LoadTest, ConstantAndScarceTargetsAreReported) {
  std::string text = "smiles,constant,scarce,steps,limits\n", carbons = "C";
  for (int r = 0; r < 60; ++r) {
    text += carbons + ",7," + (r % 10 ? "" : std::to_string(r)) + "," + std::to_string(r % 3) + "," +
            (r % 10 ? ">" : "") + std::to_string(r) + "\n";
    carbons += r % 2 ? "C" : "N";
  }
  LoadOptions options;
  options.target_columns = {"constant", "scarce", "steps", "limits"};
  const auto warnings = load_text(text, options).warnings;
  EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("'constant'"), HasSubstr("same value"))));
  EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("'scarce'"), HasSubstr("only"))));
  EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("'steps'"), HasSubstr("3 distinct values"))));
  EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("'limits'"), HasSubstr("that are not censored"))));
}

TEST_F(LoadTest, TwoOrThreeTablesDefineTheSplit) {
  std::string rows;
  for (int r = 1; r <= 20; ++r) rows += std::string(static_cast<std::size_t>(r), 'C') + "," + std::to_string(r) + "\n";
  const std::string train = folder.write("train.csv", "smiles,y\n" + rows);
  const std::string test = folder.write("test.csv", "y,smiles\n1,CN\n2,CCN\n");
  LoadOptions options;
  options.paths = {train, test};
  const LoadedData two = load_data(options);
  EXPECT_EQ(two.split_name, "files");
  EXPECT_THAT(two.split.test, ElementsAre(20, 21));
  EXPECT_THAT(two.split.train.size() + two.split.valid.size(), 20u);
  EXPECT_THAT(two.split.valid, SizeIs(3)) << "0.1 / 0.9 of 20, rounded up";
  EXPECT_EQ(two.set.smiles[20], "CN");
  EXPECT_EQ(two.set.targets[20], 1.0f);
  options.paths = {train, test, folder.write("more.csv", "smiles,y\nCO,5\n")};
  const LoadedData three = load_data(options);
  EXPECT_THAT(three.split.valid, ElementsAre(20, 21));
  EXPECT_THAT(three.split.test, ElementsAre(22));
  EXPECT_EQ(three.set.row[22], 22) << "rows are counted over all tables";
  options.paths = {train, folder.write("bad.csv", "smiles,z\nCO,5\n")};
  EXPECT_THAT(message_of<DataError>([&] { load_data(options); }), AllOf(HasSubstr("bad.csv"), HasSubstr("'y'")));
}

TEST_F(LoadTest, StandardInputIsReadTwiceWithoutAFile) {
  const RedirectedInput input(folder.write("in.gz", gzip(kLoadedTable)));
  const LoadedData data = load_data(options_for("-"));
  EXPECT_EQ(data.set.size(), 10);
  EXPECT_EQ(data.set.source.file, "standard input");
  EXPECT_THAT(data.set.source.sha256, IsEmpty());
}

TEST_F(LoadTest, LimitKeepsTheFirstRowsOfEachSet) {
  std::string text = "smiles,y,split\n";
  for (int r = 0; r < 2000; ++r)
    text += (r == 1 ? "x" : "C") + std::string(static_cast<std::size_t>(r % 30), 'C') + "," + std::to_string(r) + "," +
            (r % 10 == 8   ? "valid"
             : r % 10 == 9 ? "test"
                           : "train") +
            "\n";
  LoadOptions options;
  options.limit = 50;
  options.duplicates = Duplicates::keep;
  options.split = SplitKind::column;
  const LoadedData data = load_text(text, options);
  EXPECT_THAT(data.split.train, SizeIs(40));
  EXPECT_THAT(data.split.valid, SizeIs(5));
  EXPECT_THAT(data.split.test, SizeIs(5));
  EXPECT_EQ(data.set.row[0], 0);
  EXPECT_EQ(data.set.row[1], 2) << "a rejected row does not count";
  EXPECT_EQ(data.set.row.back(), 50);
  options.split = SplitKind::automatic;
  EXPECT_EQ(load_text(text, options).set.size(), 50);
}

TEST_F(LoadTest, StoreLoadsTheSameDataAsTheTable) {
  LoadOptions options = options_for(folder.write("table.csv", kLoadedTable));
  options.split = SplitKind::scaffold;
  const LoadedData table = load_data(options);
  std::vector<RejectedRow> rejected;
  const StoreReport report =
      load_to_store(options, folder.file("a.h5"), {}, {}, [&](const RejectedRow& row) { rejected.push_back(row); });
  EXPECT_EQ(report.rows, 11);
  EXPECT_EQ(report.molecules, 10);
  EXPECT_EQ(report.rejected, (std::map<std::string, std::int64_t>{{"invalid_smiles", 1}}));
  EXPECT_EQ(report.split_name, "scaffold");
  ASSERT_THAT(rejected, SizeIs(1));
  EXPECT_EQ(rejected[0].row, 3);

  const LoadedData store = load_data(options_for(folder.file("a.h5")));
  EXPECT_EQ(store.split_name, "scaffold");
  EXPECT_EQ(store.split.train, table.split.train);
  EXPECT_EQ(store.split.test, table.split.test);
  EXPECT_EQ(store.set.atoms, table.set.atoms);
  EXPECT_EQ(store.set.bond_atoms, table.set.bond_atoms);
  EXPECT_EQ(store.set.smiles, table.set.smiles);
  EXPECT_EQ(store.set.id, table.set.id);
  EXPECT_EQ(store.set.task.names, table.set.task.names);

  LoadOptions chosen = options_for(folder.file("a.h5"));
  chosen.target_columns = {"active"};
  chosen.task = TaskKind::binary;
  chosen.limit = 4;
  const LoadedData part = load_data(chosen);
  EXPECT_THAT(part.set.task.names, ElementsAre("active"));
  EXPECT_EQ(part.set.task.kind, TaskKind::binary);
  EXPECT_EQ(part.set.targets.size(), static_cast<std::size_t>(part.set.size()));
  EXPECT_LE(part.set.size(), 5);
  EXPECT_EQ(split_size(part.split), static_cast<std::size_t>(part.set.size()));
  chosen.features = Features::zinc;
  EXPECT_THAT(message_of<UsageError>([&] { load_data(chosen); }), HasSubstr("has molgraph features"));
}

TEST_F(LoadTest, LimitOfAStoreKeepsItsSplit) {
  LoadOptions options = options_for(folder.write("table.csv", kLoadedTable));
  options.split = SplitKind::random;
  options.seed = 4;
  load_to_store(options, folder.file("a.h5"));
  const LoadedData whole = load_data(options_for(folder.file("a.h5")));
  LoadOptions limited = options_for(folder.file("a.h5"));
  limited.limit = 4;
  const LoadedData part = load_data(limited);
  ASSERT_LT(part.set.size(), whole.set.size());
  ASSERT_GT(part.set.row.back(), part.set.size()) << "choose a seed that leaves molecules out in between";
  const auto first_smiles = [](const LoadedData& data, const std::vector<std::int64_t>& indices) {
    return data.set.smiles[static_cast<std::size_t>(indices.at(0))];
  };
  EXPECT_EQ(first_smiles(part, part.split.train), first_smiles(whole, whole.split.train));
  EXPECT_EQ(first_smiles(part, part.split.valid), first_smiles(whole, whole.split.valid));
  EXPECT_EQ(first_smiles(part, part.split.test), first_smiles(whole, whole.split.test));
}

TEST_F(LoadTest, LoadsAnSdfTable) {
  const std::string block =
      "\n  test\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n"
      "    0.0000    0.0000    0.0000 C   0  0\n    1.5000    0.0000    0.0000 O   0  0\n"
      "  1  2  1  0\nM  END\n> <y>\n";
  const std::string path = folder.write("a.sdf", block + "1.5\n\n$$$$\n" + block + "2.5\n\n$$$$\n");
  LoadOptions options = options_for(path);
  options.duplicates = Duplicates::keep;
  options.split_sizes = {1, 0, 0};
  const LoadedData data = load_data(options);
  EXPECT_THAT(data.set.smiles, ElementsAre("CO", "CO"));
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.set.targets, ElementsAre(1.5f, 2.5f));
}

TEST_F(LoadTest, MissingNamedDataSetErrorExplainsWhatToDo) {
  LoadOptions options = options_for("molhiv");
  options.data_dir = folder.file("nowhere");
  EXPECT_THAT(message_of<FileError>([&] { load_data(options); }),
              AllOf(HasSubstr("molhiv/molhiv.csv.gz"), HasSubstr("split/train.csv"), HasSubstr(options.data_dir),
                    HasSubstr("ogb.stanford.edu"), HasSubstr("--data-dir")));
  LoadOptions half = options_for("pcqm4mv2");
  half.subset = "half";
  EXPECT_THAT(message_of<UsageError>([&] { load_data(half); }),
              HasSubstr("no subset 'half'; available: partial, sample"));
}

TEST_F(LoadTest, NamedDataSetOfAnotherSizeIsAnError) {
  folder.write("zinc12k.csv", "split,smiles,y\ntrain,CC,1\nvalid,CO,2\ntest,CN,3\n");
  LoadOptions options = options_for("zinc");
  options.data_dir = folder.file("");
  EXPECT_THAT(message_of<FileError>([&] { load_data(options); }), AllOf(HasSubstr("10000"), HasSubstr("train")));
}

TEST_F(LoadTest, DataFoldersFollowTheXdgRules) {
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", "/cache", 1), 0);
  EXPECT_THAT(data_folders("/here"), ElementsAre("/here"));
  EXPECT_THAT(data_folders("").back(), "/cache/molgraph");
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", "relative", 1), 0);
  EXPECT_THAT(data_folders("").back(), HasSubstr("/.cache/molgraph"));
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Targets, ParseNumbersAndMissingCells) {
  EXPECT_EQ(number_of_cell(" +1.5e3 "), 1500.0);
  EXPECT_EQ(number_of_cell("True"), 1.0);
  for (const char* text : {">50", "1,5", "inf", "1e300", "0x10", "1.5 nM", "+-1", ""})
    EXPECT_FALSE(number_of_cell(text).has_value()) << text;
  for (const char* text : {"", "  ", "nan", "NA", "N/A", "NULL", "<NA>", "None", "-"})
    EXPECT_TRUE(is_missing(text)) << text;
  for (const char* text : {"n", "--", "0", "nothing"}) EXPECT_FALSE(is_missing(text)) << text;
}

TEST(ParallelLoop, CoversEverythingOnceAndForwardsErrors) {
  EXPECT_GE(usable_cores(), 1);
  std::vector<int> visits(1001, 0);
  parallel_for(1001, 10, 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_THAT(visits, Each(1));
  const auto fails_once = [](std::int64_t begin, std::int64_t) {
    if (begin == 50) throw DataError("x");
  };
  EXPECT_THROW(parallel_for(100, 1, 4, fails_once), DataError);
}

TEST_F(LoadTest, TargetsKeepTheirFullPrecision) {
  const std::string table = "smiles,energy\nC,-500000.0123\nCC,-499999.98765\nCCC,-1.77\nCCCC,0.1\nCCO,2\n";
  const LoadedData data = load_text(table);
  EXPECT_THAT(data.set.targets, ElementsAre(-500000.0123, -499999.98765, -1.77, 0.1, 2.0));
  load_to_store(options_for(folder.file("table.csv")), folder.file("table.h5"));
  EXPECT_EQ(Store(folder.file("table.h5")).load().targets, data.set.targets);
}

TEST_F(LoadTest, LoadsTheDemoDataSet) {
  LoadOptions options = options_for("demo");
  options.limit = 200;
  const LoadedData data = load_data(options);
  EXPECT_EQ(data.set.size(), 200);
  EXPECT_THAT(data.set.task.names, ElementsAre("penalized_logp"));
  EXPECT_EQ(data.metric, "mae");
  EXPECT_EQ(static_cast<float>(data.set.targets[7]), static_cast<float>(penalized_logp(data.set.smiles[7]).y));
}

}  // namespace
}  // namespace molgraph
