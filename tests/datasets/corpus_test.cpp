// Corpus of tables with target columns. Columns are matched by name; a table that lacks one has missing labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using testing::message_of;
using testing::ScratchFolder;

class Corpus : public ::testing::Test {
 protected:
  Corpus() {
    options.corpus = true;
    options.require_targets = false;
    options.target_columns = {"all"};
  }
  LoadedData load_texts(const std::vector<std::string>& tables) {
    options.paths.clear();
    for (const std::string& text : tables)
      options.paths.push_back(folder.write("t" + std::to_string(options.paths.size()) + ".csv", text));
    return load_data(options);
  }
  LoadOptions options;
  ScratchFolder folder;
};

const std::string kPlain = "smiles\nC\nCC\n", kFirst = "smiles,ic50,active\nCCC,5.5,\nCCCC,nan,yes\nCCCCC,7.25,no\n",
                  kSecond = "Active,logD,smiles\n1,-1.5,CO\n,2.5,CN\n";

TEST_F(Corpus, ColumnsAreMatchedByNameAndMayBeMissing) {
  options.table_weights = {1, 0.5, 2};
  const LoadedData data = load_texts({kPlain, kFirst, kSecond});
  const MoleculeSet& set = data.set;
  EXPECT_THAT(set.task.names, ElementsAre("ic50", "active", "logD"));
  EXPECT_THAT(set.task.kinds, ElementsAre(TaskKind::regression, TaskKind::binary, TaskKind::regression));
  EXPECT_EQ(set.size(), 7);
  EXPECT_THAT(set.targets, IsEmpty()) << "there is no dense matrix of labels";
  EXPECT_EQ(set.sparse.targets, 3u);
  EXPECT_THAT(set.sparse.offset, ElementsAre(0, 0, 0, 1, 2, 4, 6, 7));
  EXPECT_THAT(set.sparse.target, ElementsAre(0, 1, 0, 1, 1, 2, 2));
  EXPECT_THAT(set.sparse.value, ElementsAre(5.5f, 1, 7.25f, 0, 1, -1.5f, 2.5f));
  EXPECT_THAT(set.sparse.bound, IsEmpty());
  EXPECT_THAT(set.sparse.weight, ElementsAre(1, 1, 0.5f, 0.5f, 0.5f, 2, 2));
}

TEST_F(Corpus, NamesAreUniqueInATableAndExcludeTheSmilesColumn) {
  const std::string message = message_of<DataError>([&] {
    load_texts({kFirst, "smiles,IC50,ic50\nCO,1.5,2.5\nCN,2.5,3.5\n"});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("t1.csv"), HasSubstr("'ic50'")));
  // In the second table, "mol" is the SMILES column.
  const MoleculeSet set = load_texts({"smiles,mol\nC,1.5\nCC,2.5\n", "mol,y\nCO,1\nCN,3.5\n"}).set;
  EXPECT_THAT(set.task.names, ElementsAre("mol", "y"));
  EXPECT_THAT(set.sparse.target, ElementsAre(0, 0, 1, 1));
}

TEST_F(Corpus, OnlyMoleculesAreUsedWithoutTargetColumns) {
  options.target_columns = {};
  const LoadedData data = load_texts({kPlain, kFirst});
  EXPECT_THAT(data.set.task.names, IsEmpty());
  EXPECT_EQ(data.set.sparse.targets, 0u);
  EXPECT_EQ(data.set.size(), 5);
}

TEST_F(Corpus, NamedColumnsNeedNotBeInEveryTable) {
  options.target_columns = {"logd", "ic50"};
  EXPECT_THAT(load_texts({kPlain, kFirst, kSecond}).set.task.names, ElementsAre("ic50", "logD"));
  options.target_columns = {"ic50", "pKa"};
  EXPECT_THAT(message_of<DataError>([&] {
                load_texts({kPlain, kFirst, kSecond});
              }),
              AllOf(HasSubstr("no target column 'pKa' in any table of the corpus"), HasSubstr("t0.csv")));
}

TEST_F(Corpus, AllAcceptsMoreThanTwentyColumns) {
  std::string head = "smiles", one = "C", two = "CC";
  for (int c = 0; c < 30; ++c) head += ",assay" + std::to_string(c), one += ",1.5", two += "," + std::to_string(c);
  EXPECT_EQ(load_texts({head + "\n" + one + "\n" + two + "\n", kPlain}).set.task.names.size(), 30u);
}

TEST_F(Corpus, AllLeavesOutDescriptorsAndProgramOutputWithOneNote) {
  const std::string table = "smiles,ic50,MolWt,ic50_pred\nCCC,5.5,44.1,5.1\nCCCC,6.5,58.1,6.2\n";
  const LoadedData data = load_texts({table, table});
  EXPECT_THAT(data.set.task.names, ElementsAre("ic50"));
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("already computed"), HasSubstr("MolWt"))).Times(1));
  EXPECT_THAT(data.notes, Contains(AllOf(HasSubstr("program's output"), HasSubstr("ic50_pred"))).Times(1));
}

TEST_F(Corpus, TextThatIsNeitherNumberNorClassIsAnError) {
  // Checked over the whole corpus: the first table has numbers in this column, the second one has text.
  options.target_columns = {"ic50"};
  EXPECT_THAT(message_of<DataError>([&] {
                load_texts({kFirst, "smiles,ic50\nC,3\nCC,inactive\n"});
              }),
              AllOf(HasSubstr("t1.csv"), HasSubstr("row 2"), HasSubstr("'ic50'"), HasSubstr("inactive")));
  options.target_columns = {"kind"};
  EXPECT_THAT(message_of<DataError>([&] {
                load_texts({kFirst, "smiles,kind\nC,red\nCC,blue\n"});
              }),
              AllOf(HasSubstr("t1.csv"), HasSubstr("row 1"), HasSubstr("'kind'"), HasSubstr("red")));
  options.target_columns = {"all"};
  EXPECT_THAT(message_of<DataError>([&] { load_texts({kPlain}); }), HasSubstr("no column of numbers"));
}

TEST_F(Corpus, CensoredLabelsAreLimitsMissingOrNumbers) {
  const std::string table = "smiles,ic50\nC,>50\nCC,4.5\nCCC,<2\nCCCC,6\n";
  EXPECT_THAT(load_texts({table}).set.sparse.bound, ElementsAre(1, 0, -1, 0));
  options.censored = Censored::drop;
  const LoadedData dropped = load_texts({table});
  EXPECT_THAT(dropped.set.sparse.value, ElementsAre(4.5f, 6));
  EXPECT_THAT(dropped.set.sparse.offset, ElementsAre(0, 0, 1, 1, 2));
  EXPECT_EQ(dropped.censored, 2);
  EXPECT_THAT(dropped.notes, Contains(HasSubstr("2 censored labels: 1 with > and 1 with < in 'ic50'")));
  options.censored = Censored::value;
  const LoadedData numbers = load_texts({table});
  EXPECT_THAT(numbers.set.sparse.value, ElementsAre(50, 4.5f, 2, 6));
  EXPECT_THAT(numbers.set.sparse.bound, IsEmpty());
}

TEST_F(Corpus, DroppedDuplicatesKeepTheLabelsOfTheFirstRow) {
  options.duplicates = Duplicates::drop;
  const LoadedData data = load_texts({"smiles,ic50\nCCO,1\nCC,2\n", "smiles,ic50,logD\nOCC,3,4\nCN,5,6\n"});
  EXPECT_EQ(data.set.size(), 3);
  EXPECT_THAT(data.set.sparse.value, ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(data.notes, Contains(HasSubstr("the first row of each is kept")));
}

TEST_F(Corpus, StoresAreNotSupported) {
  options.paths = {folder.write("s.h5", "\x89HDF\r\n\x1a\n")};
  EXPECT_THAT(message_of<UsageError>([&] { load_data(options); }), HasSubstr("use its tables"));
}

}  // namespace
}  // namespace molgraph
