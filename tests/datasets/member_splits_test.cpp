// Several validation sets of one split, one per ensemble member. They are disjoint, cover all molecules outside the
// test set, and keep duplicates, scaffolds and groups together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "datasets/load.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::ScratchFolder;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Indices = std::vector<std::int64_t>;

Indices united(const Indices& a, const Indices& b) {
  Indices all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  return all;
}

void expect_equal(const Split& a, const Split& b) {
  EXPECT_EQ(a.train, b.train);
  EXPECT_EQ(a.valid, b.valid);
  EXPECT_EQ(a.test, b.test);
}

/// `pool` (ascending): the molecules for training and validation of every member.
void expect_member_splits_of(const LoadedData& data, const Indices& pool) {
  Indices validated;
  for (const Split& member : data.member_splits) {
    EXPECT_EQ(member.test, data.split.test);
    EXPECT_EQ(united(member.train, member.valid), pool);
    EXPECT_FALSE(member.valid.empty());
    validated = united(validated, member.valid);
  }
  EXPECT_EQ(validated, pool) << "each molecule is validated once";
}

std::vector<Indices> valid_parts(const LoadedData& data) {
  std::vector<Indices> parts;
  for (const Split& member : data.member_splits) parts.push_back(member.valid);
  return parts;
}

class RoundsTest : public ::testing::Test {
 protected:
  LoadedData load_text(const std::string& content, int member_splits) {
    options.paths = {folder.write("table.csv", content)};
    return load(member_splits);
  }
  /// Also expects that LoadOptions::member_splits changes nothing else.
  LoadedData load(int member_splits) {
    options.member_splits = 0;
    const LoadedData without = load_data(options);
    EXPECT_THAT(without.member_splits, IsEmpty());
    options.member_splits = member_splits;
    LoadedData data = load_data(options);
    EXPECT_THAT(data.member_splits, SizeIs(static_cast<std::size_t>(member_splits)));
    expect_equal(data.split, without.split);
    EXPECT_EQ(data.split_name, without.split_name);
    EXPECT_EQ(data.set.row, without.set.row);
    EXPECT_EQ(data.set.targets, without.set.targets);
    EXPECT_EQ(data.set.splits.size(), without.set.splits.size());
    EXPECT_EQ(data.warnings, without.warnings);
    EXPECT_EQ(data.notes.size(), without.notes.size() + 1);
    EXPECT_TRUE(std::equal(without.notes.begin(), without.notes.end(), data.notes.begin()));
    return data;
  }
  /// Message of the `Error` that load_text() throws.
  template <class Error>
  std::string error_of(const std::string& content, int member_splits) {
    options.paths = {folder.write("table.csv", content)};
    options.member_splits = member_splits;
    return message_of<Error>([&] { load_data(options); });
  }
  ScratchFolder folder;
  LoadOptions options;
};

/// `count` alkanes of 1, 2, 3 ... atoms with a regression target.
std::string alkanes(int count) {
  std::string text = "smiles,y\n";
  for (int r = 0; r < count; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + std::to_string(r) + ".5\n";
  return text;
}

TEST_F(RoundsTest, DivideARandomSplit) {
  options.split_sizes = {0.5, 0.25, 0.25};
  const LoadedData data = load_text(alkanes(12), 3);
  const Indices pool = united(data.split.train, data.split.valid);
  ASSERT_THAT(pool, SizeIs(9));
  expect_member_splits_of(data, pool);
  const auto folds = k_fold_splits(9, {}, 3, {1, 0, 0}, 0);
  for (std::size_t k = 0; k < 3; ++k) {
    Indices expected;
    for (const auto i : folds[k].test) expected.push_back(pool[static_cast<std::size_t>(i)]);
    EXPECT_EQ(data.member_splits[k].valid, expected);
    EXPECT_THAT(expected, SizeIs(3));
  }
  EXPECT_EQ(data.notes.back(), "3 validation sets of 3 of the 9 training and validation rows, divided by molecules");
  const LoadedData four = load_text(alkanes(12), 4);
  expect_member_splits_of(four, pool);
  EXPECT_THAT(four.notes.back(), HasSubstr("4 validation sets of 2 to 3 of the 9 "));
  options.seed = 1;
  EXPECT_NE(valid_parts(load_text(alkanes(12), 3)), valid_parts(data));
}

TEST_F(RoundsTest, AreStratified) {
  std::string text = "smiles,y,part\n";  // 30 rows outside the test set, five of them active, and 10 test rows
  for (int r = 0; r < 40; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + (r < 5 || r == 35 ? "1" : "0") + "," +
            (r < 24   ? "train"
             : r < 30 ? "val"
                      : "test") +
            "\n";
  options.splits_column = "part";
  const LoadedData data = load_text(text, 5);
  ASSERT_EQ(data.split_name, "column");
  expect_member_splits_of(data, united(data.split.train, data.split.valid));
  for (const Split& member : data.member_splits) {
    EXPECT_THAT(member.valid, SizeIs(6));
    EXPECT_EQ(std::ranges::count_if(member.valid, [](std::int64_t g) { return g < 5; }), 1);
  }
}

// Each molecule has two spellings, in rows 2 m and 2 m + 1.
constexpr const char* kTwice =
    "smiles,y,part\nCCO,1,train\nOCC,2,train\nCCN,3,train\nNCC,4,val\nCCF,5,val\nFCC,6,train\nCCCl,7,train\nClCC,8,\n"
    "CCBr,9,val\nBrCC,9.5,val\nCCI,1,test\nICC,2,test\n";

TEST_F(RoundsTest, KeepDuplicatesOfAComputedSplitTogether) {
  options.target_columns = {"y"};
  options.duplicates = Duplicates::keep;
  options.split_sizes = {0.5, 0.25, 0.25};
  const LoadedData data = load_text(kTwice, 4);
  ASSERT_THAT(data.split.test, SizeIs(4));
  expect_member_splits_of(data, united(data.split.train, data.split.valid));
  for (const Indices& part : valid_parts(data)) {
    ASSERT_THAT(part, SizeIs(2));
    EXPECT_EQ(part[0] % 2, 0);
    EXPECT_EQ(part[1], part[0] + 1);
  }
  options.duplicates.reset();  // one row per molecule
  const LoadedData merged = load_text(kTwice, 4);
  EXPECT_THAT(merged.set.row, ElementsAre(0, 2, 4, 6, 8, 10));
  for (const Indices& part : valid_parts(merged)) EXPECT_THAT(part, SizeIs(1));
}

TEST_F(RoundsTest, DivideAColumnSplitWithDuplicatesInTwoSets) {
  options.splits_column = "part";
  options.duplicates = Duplicates::keep;
  const LoadedData data = load_text(kTwice, 5);
  EXPECT_THAT(data.split.train, ElementsAre(0, 1, 2, 5, 6));
  expect_member_splits_of(data, {0, 1, 2, 3, 4, 5, 6, 8, 9});
  EXPECT_THAT(valid_parts(data), UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5),
                                                      ElementsAre(6), ElementsAre(8, 9)));
  EXPECT_EQ(error_of<DataError>(kTwice, 6),
            "table.csv: the training and validation sets have 5 molecules, too few for 6 validation sets");
  options.duplicates.reset();  // merged only in the training set: row 1 is removed
  const LoadedData merged = load_text(kTwice, 5);
  EXPECT_THAT(merged.set.row, ElementsAre(0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(valid_parts(merged), UnorderedElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3, 4),
                                                        ElementsAre(5), ElementsAre(7, 8)));
}

TEST_F(RoundsTest, LeaveOutRowsOfWeightZero) {
  options.splits_column = "part";
  options.weight_column = "trust";
  const LoadedData data = load_text(
      "smiles,y,trust,part\nC,1,1,train\nCC,2,0,train\nCCC,3,2,train\nCCCC,4,0,val\nCN,5,0.5,val\nCO,6,0,test\n", 3);
  EXPECT_THAT(data.split.valid, ElementsAre(3, 4)) << "a row of weight 0 is evaluated";
  EXPECT_THAT(valid_parts(data), UnorderedElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(4)));
  expect_member_splits_of(data, {0, 2, 4});
}

TEST_F(RoundsTest, DivideASplitsFileAndTwoTables) {
  options.splits_file = folder.write("s.json", R"({"train": "0-3", "val": [5], "test": [7]})");
  const LoadedData data = load_text(alkanes(9), 5);
  EXPECT_EQ(data.split_name, "file");
  expect_member_splits_of(data, {0, 1, 2, 3, 5});
  options.splits_file = folder.write("s.json", R"([{"train": "0-3", "val": [5]}, {"train": "5-8", "val": [1]}])");
  EXPECT_THAT(error_of<UsageError>(alkanes(9), 2), HasSubstr("several validation sets require a single split"));

  options.splits_file.clear();
  options.paths = {folder.write("train.csv", alkanes(8)), folder.write("test.csv", "smiles,y\nCN,1.5\nCO,2.5\n")};
  const LoadedData two = load(4);
  EXPECT_THAT(two.split.test, ElementsAre(8, 9));
  expect_member_splits_of(two, {0, 1, 2, 3, 4, 5, 6, 7});
}

// Scaffolds: four benzene, three cyclohexane, two pyridine, one cyclopentane. The last one is the test set.
constexpr const char* kRings =
    "smiles,y\nCC1CCCCC1,1.5\nCc1ccccc1,2\nNc1ccccc1,3\nCc1ccncc1,4\nOC1CCCCC1,5\nOc1ccccc1,6\nOc1ccncc1,7\n"
    "NC1CCCCC1,8\nSc1ccccc1,9\nCC1CCCC1,10\n";

TEST_F(RoundsTest, KeepScaffoldsTogetherInTablesAndStores) {
  options.split_sizes = {0.7, 0.2, 0.1};
  for (const SplitKind kind : {SplitKind::scaffold, SplitKind::scaffold_balanced}) {
    options.split = kind;
    const LoadedData data = load_text(kRings, 2);
    if (kind == SplitKind::scaffold_balanced) {  // the test set depends on the seed
      expect_member_splits_of(data, united(data.split.train, data.split.valid));
      for (const auto& ring : {Indices{1, 2, 5, 8}, Indices{0, 4, 7}, Indices{3, 6}})
        for (const Indices& part : valid_parts(data)) {
          const auto in = std::ranges::count_if(ring, [&](auto g) { return std::ranges::count(part, g) > 0; });
          EXPECT_TRUE(in == 0 || in == std::ssize(ring));
        }
      continue;
    }
    ASSERT_THAT(data.split.test, ElementsAre(9));
    EXPECT_THAT(valid_parts(data), ElementsAre(ElementsAre(1, 2, 5, 8), ElementsAre(0, 3, 4, 6, 7)))
        << "the largest scaffold first, each into the smaller set";
    expect_member_splits_of(data, {0, 1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(data.notes.back(),
              "2 validation sets of 4 to 5 of the 9 training and validation rows, divided by scaffolds");
    EXPECT_EQ(error_of<DataError>(kRings, 4),
              "table.csv: the training and validation sets have 9 molecules of 3 "
              "scaffolds, too few for 4 validation sets");
    options.member_splits = 0;
    load_to_store(options, folder.file("rings.h5"));
    LoadOptions from;
    from.paths = {folder.file("rings.h5")};
    from.member_splits = 2;
    EXPECT_EQ(valid_parts(load_data(from)), valid_parts(data)) << "the store's split is by scaffold";
    from.split = SplitKind::scaffold;
    from.split_sizes = options.split_sizes;
    EXPECT_EQ(valid_parts(load_data(from)), valid_parts(data));
  }
}

TEST_F(RoundsTest, KeepGroupsThatShareAMoleculeTogether) {
  options.split = SplitKind::group;
  options.group_column = "project";
  options.target_columns = {"y"};
  options.duplicates = Duplicates::keep;
  options.split_sizes = {0.8, 0.2, 0};
  // Groups a and b share ethanol and have three molecules; c has three, d has two, and two molecules have no group.
  const std::string text =
      "smiles,y,project\nCCO,1,a\nCN,2,a\nCCC,3,c\nOCC,4,b\nCF,5,b\nCCCC,6,c\nCCl,7,\nCS,8,d\nCI,9,c\nCBr,1,d\nCP,2,\n";
  const LoadedData data = load_text(text, 2);
  EXPECT_THAT(valid_parts(data), ElementsAre(ElementsAre(0, 1, 3, 4, 7, 9), ElementsAre(2, 5, 6, 8, 10)));
  expect_member_splits_of(data, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_THAT(data.notes.back(), HasSubstr("by groups"));
  EXPECT_THAT(error_of<DataError>(text, 6), HasSubstr("10 molecules of 5 groups, too few for 6"));

  options.member_splits = 0;
  load_to_store(options, folder.file("groups.h5"));
  options = {};
  options.paths = {folder.file("groups.h5")};
  const LoadedData stored = load(3);
  ASSERT_EQ(stored.split_name, "group");
  for (const Split& member : stored.member_splits) expect_equal(member, stored.split);
  EXPECT_THAT(stored.notes.back(), HasSubstr("its groups are no longer known"));
}

TEST_F(RoundsTest, AllUseTheValidationSetOfATimeOrOrderSplit) {
  std::string text = "smiles,y,year\n";
  for (int r = 0; r < 10; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + ",1." + std::to_string(r) + "," +
            std::to_string(2000 + r * 3 % 10) + "\n";
  for (const SplitKind kind : {SplitKind::time, SplitKind::order}) {
    options = {};
    options.split = kind;
    if (kind == SplitKind::time) options.time_column = "year";
    options.target_columns = {"y"};
    const LoadedData data = load_text(text, 3);
    for (const Split& member : data.member_splits) expect_equal(member, data.split);
    EXPECT_THAT(data.split.valid, ElementsAre(kind == SplitKind::time ? 6 : 8))
        << "by time: the row of 2008; by order: the last row but one";
    EXPECT_THAT(data.notes.back(), HasSubstr("all 3 validation sets are that of the split: a model must not"));
    options.member_splits = 0;
    load_to_store(options, folder.file("ahead.h5"));
    options = {};
    options.paths = {folder.file("ahead.h5")};
    for (const Split& member : load(3).member_splits) expect_equal(member, data.split);
  }
}

TEST_F(RoundsTest, KeepDuplicatesOfAStoreTogetherByDefault) {
  options.paths = {folder.write("twice.csv", kTwice)};
  options.target_columns = {"y"};
  options.duplicates = Duplicates::keep;
  load_to_store(options, folder.file("twice.h5"));
  options = {};
  options.paths = {folder.file("twice.h5")};
  options.split = SplitKind::random;
  const LoadedData data = load(3);
  const Indices pool = united(data.split.train, data.split.valid);
  expect_member_splits_of(data, pool);
  int pairs = 0;
  for (const Indices& part : valid_parts(data))
    for (const std::int64_t g : part) {
      const std::int64_t other = g ^ 1;  // of the same molecule
      pairs += std::ranges::binary_search(pool, other);
      EXPECT_EQ(std::ranges::binary_search(part, other), std::ranges::binary_search(pool, other)) << g;
    }
  EXPECT_GT(pairs, 6);
}

TEST_F(RoundsTest, ContradictoryOptionsAreErrors) {
  EXPECT_THAT(error_of<UsageError>(alkanes(9), 1), HasSubstr("at least 2 validation sets"));
  EXPECT_THAT(error_of<UsageError>(alkanes(9), -1), HasSubstr("at least 2 validation sets"));
  options.folds = 2;
  EXPECT_THAT(error_of<UsageError>(alkanes(9), 2), HasSubstr("without --folds"));
  options.folds = 0;
  options.member_splits = 2;
  EXPECT_THAT(message_of<UsageError>([&] { load_to_store(options, folder.file("t.h5")); }),
              HasSubstr("contains only the validation set"));
  EXPECT_THAT(error_of<DataError>(alkanes(4), 5), HasSubstr("3 molecules, too few for 5 validation sets"));
}

TEST_F(RoundsTest, InnerFoldsEqualRounds) {
  options.split_sizes = {0.5, 0.25, 0.25};
  const std::vector<Indices> member_splits = valid_parts(load_text(alkanes(12), 3));
  options.member_splits = 0, options.inner_folds = 3;
  const LoadedData data = load_data(options);
  std::vector<Indices> inner;
  for (const Split& fold : data.inner) {
    inner.push_back(fold.valid);
    EXPECT_EQ(united(fold.train, fold.valid), united(data.split.train, data.split.valid));
    EXPECT_EQ(fold.test, data.split.test);
  }
  EXPECT_EQ(inner, member_splits);
  EXPECT_THAT(data.member_splits, IsEmpty());
  options.inner_folds = 40;
  EXPECT_THAT(load_data(options).inner, SizeIs(9)) << "at most one fold per molecule";
  options.inner_folds = 3, options.folds = 2;
  EXPECT_THAT(load_data(options).inner, IsEmpty());
  options.folds = 0, options.member_splits = 2;
  EXPECT_THAT(load_data(options).inner, IsEmpty());
  options.member_splits = 0, options.split_sizes = {0.8, 0, 0.2};
  EXPECT_THAT(load_data(options).inner, IsEmpty());
  options.split_sizes = {0.5, 0.25, 0.25}, options.split = SplitKind::time, options.time_column = "year";
  options.paths = {folder.write("dated.csv", "smiles,y,year\nC,1,1\nCC,2,2\nCCC,3,3\nCCCC,4,4\n")};
  EXPECT_THAT(load_data(options).inner, IsEmpty());
  options.split = SplitKind::order, options.time_column.clear();
  EXPECT_THAT(load_data(options).inner, IsEmpty());
}

}  // namespace
}  // namespace molgraph
