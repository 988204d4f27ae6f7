// Splits by group, by time, by order, from a file, and cross-validation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "datasets/load.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::Not;
using testing::ScratchFolder;
using ::testing::SizeIs;

std::vector<std::int64_t> all_of(const Split& split) {
  std::vector<std::int64_t> all = split.train;
  all.insert(all.end(), split.valid.begin(), split.valid.end());
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::ranges::sort(all);
  return all;
}

std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), std::int64_t{0});
  return result;
}

TEST(KFold, TestSetsAreDisjointAndComplete) {
  const auto splits = k_fold_splits(103, {}, 5, {0.8, 0.1, 0.1}, 0);
  ASSERT_THAT(splits, SizeIs(5));
  std::vector<std::int64_t> tested;
  for (const Split& split : splits) {
    EXPECT_EQ(all_of(split), numbers(103));
    EXPECT_NEAR(static_cast<double>(split.test.size()), 20.6, 1);
    EXPECT_NEAR(static_cast<double>(split.valid.size()), 9, 1) << "a ninth of the rest";
    tested.insert(tested.end(), split.test.begin(), split.test.end());
  }
  std::ranges::sort(tested);
  EXPECT_EQ(tested, numbers(103));
  EXPECT_NE(k_fold_splits(103, {}, 5, {0.8, 0.1, 0.1}, 1)[0].test, splits[0].test);
  EXPECT_THAT(k_fold_splits(10, {}, 2, {1, 0, 0}, 0)[0].valid, IsEmpty());
  EXPECT_THROW(k_fold_splits(3, {}, 4, {0.8, 0.1, 0.1}, 0), UsageError);
  EXPECT_THROW(k_fold_splits(3, {"a", "a", "a"}, 2, {0.8, 0.1, 0.1}, 0), UsageError);
}

TEST(KFold, GroupsStayTogether) {
  std::vector<std::string> groups;
  for (int i = 0; i < 200; ++i) groups.push_back(i % 10 == 9 ? "" : "g" + std::to_string(i * i % 37));
  const auto splits = k_fold_splits(200, unique_where_empty(groups), 4, {0.8, 0.1, 0.1}, 0);
  std::map<std::string, std::set<std::size_t>> where;
  for (std::size_t k = 0; k < splits.size(); ++k) {
    EXPECT_NEAR(static_cast<double>(splits[k].test.size()), 50, 5);
    for (const auto g : splits[k].test)
      if (!groups[static_cast<std::size_t>(g)].empty()) where[groups[static_cast<std::size_t>(g)]].insert(k);
  }
  for (const auto& [group, folds] : where) EXPECT_THAT(folds, SizeIs(1)) << group;
}

TEST(GroupSplit, GroupsStayTogetherAndRowsWithoutGroupAreSeparate) {
  std::vector<std::string> groups(100);  // all without a name
  for (int i = 0; i < 50; ++i) groups[static_cast<std::size_t>(i)] = "g" + std::to_string(i / 5);
  const Split split = scaffold_balanced_split(unique_where_empty(groups), {0.8, 0.1, 0.1}, 3);
  EXPECT_EQ(all_of(split), numbers(100));
  EXPECT_THAT(split.train, SizeIs(80));
  const auto without_group = [](const std::vector<std::int64_t>& part) {
    return std::ranges::count_if(part, [](auto g) { return g >= 50; });
  };
  EXPECT_LT(without_group(split.train), 50) << "rows without a name are not a group";
  for (const auto* part : {&split.train, &split.valid, &split.test})
    for (const auto g : *part) EXPECT_TRUE(g >= 50 || std::ranges::binary_search(*part, g / 5 * 5)) << g;
}

TEST(TimeSplit, RejectsNumbersThatAreDatesInAnotherOrder) {
  for (const std::vector<std::string>& times :
       {std::vector<std::string>{"03.2024", "11.2023"}, {"25092023", "01022024"}})
    EXPECT_THAT(message_of<DataError>([&] {
                  time_split(times, {1, 0, 0}, "x.csv", {4, 6});
                }),
                AllOf(HasSubstr("x.csv, row 5"), HasSubstr("2024-03-01"), HasSubstr(times[0])));
  EXPECT_THAT(time_split({"03.2024", "7", "11.2023"}, {0.5, 0, 0.5}, "x.csv", {0, 1, 2}).test, ElementsAre(1, 2));
}

TEST(TimeSplit, LatestRowsAreTheTestSet) {
  const auto rows = numbers(5);
  const Split split = time_split({"3", "-1", "2.5", "1e1", "2"}, {0.6, 0.2, 0.2}, "x.csv", rows);
  EXPECT_THAT(split.train, ElementsAre(1, 2, 4));
  EXPECT_THAT(split.valid, ElementsAre(0));
  EXPECT_THAT(split.test, ElementsAre(3));
  const Split dates = time_split({"2024-03-01", "2023-12-31T23:59", "2024-02-29", "1999-01-01", "2024-03-01 08:00"},
                                 {0.6, 0.2, 0.2}, "x.csv", rows);
  EXPECT_THAT(dates.train, ElementsAre(1, 2, 3));
  EXPECT_THAT(dates.test, ElementsAre(4));
  EXPECT_THAT(message_of<DataError>([&] {
                time_split({"1", "soon"}, {1, 0, 0}, "x.csv", {0, 6});
              }),
              AllOf(HasSubstr("x.csv, row 7"), HasSubstr("soon")));
  EXPECT_THAT(message_of<DataError>([&] {
                time_split({"2024-01-01", "5"}, {1, 0, 0}, "x.csv", {0, 6});
              }),
              HasSubstr("not a date"));
  EXPECT_THAT(message_of<DataError>([&] {
                time_split({"2024-01-01", "2024-99-99"}, {1, 0, 0}, "x.csv", {0, 6});
              }),
              AllOf(HasSubstr("x.csv, row 7: not a valid date or time"), HasSubstr("2024-99-99")));
  EXPECT_THAT(message_of<DataError>([&] { time_split({"2024-02-30"}, {1, 0, 0}, "x.csv", {0}); }), HasSubstr("row 1"));
  const Split zones = time_split({"2024-03-01T01:00Z", "2024-03-01T02:00+02:00"}, {0.5, 0, 0.5}, "x.csv", {0, 1});
  EXPECT_THAT(zones.train, ElementsAre(1)) << "compared as points in time, not as text";
}

TEST(OrderSplit, LastRowsAreTheTestSet) {
  const Split split = order_split(10, {0.6, 0.2, 0.2});
  EXPECT_THAT(split.train, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(split.valid, ElementsAre(6, 7));
  EXPECT_THAT(split.test, ElementsAre(8, 9));
  EXPECT_THAT(order_split(3, {0.8, 0.1, 0.1}).test, ElementsAre(2));
  EXPECT_THAT(order_split(4, {0.8, 0.1, 0.1}).valid, ElementsAre(2)) << "each set of a small table gets one row";
}

class SplitFromTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text = "smiles,y,batch,year\n";
    for (int i = 0; i < 20; ++i)
      text += std::string(static_cast<std::size_t>(i + 1), i == 7 ? '(' : 'C') + "," + std::to_string(i) + ".5,b" +
              std::to_string(i % 4) + "," + std::to_string(2000 + (i * 7) % 20) + "\n";
    options.paths = {folder.write("t.csv", text)};
    options.target_columns = {"y"};
  }
  ScratchFolder folder;
  LoadOptions options;
};

TEST_F(SplitFromTableTest, SplitsByGroupColumnAndStoresTheSplit) {
  options.split = SplitKind::group;
  options.group_column = "batch";
  options.target_columns.clear();
  options.split_sizes = {0.5, 0.25, 0.25};
  const LoadedData data = load_data(options);
  EXPECT_EQ(data.split_name, "group");
  EXPECT_THAT(data.set.task.names, ElementsAre("y")) << "the group column is not a target";
  EXPECT_THAT(all_of(data.split), SizeIs(19));
  std::map<std::string, int> parts;
  for (const auto* part : {&data.split.train, &data.split.valid, &data.split.test})
    for (const auto g : *part)
      parts["b" + std::to_string(data.set.row[static_cast<std::size_t>(g)] % 4)] |= 1 << (part - &data.split.train);
  for (const auto& [group, in] : parts) EXPECT_EQ(in & (in - 1), 0) << group;

  const std::string store = folder.file("t.h5");
  load_to_store(options, store);
  LoadOptions stored;
  stored.paths = {store};
  EXPECT_EQ(load_data(stored).split.test, data.split.test);
  stored.split = SplitKind::group;
  stored.group_column = "batch";
  EXPECT_THAT(message_of<UsageError>([&] { load_data(stored); }), HasSubstr("split the table by group"));
}

TEST_F(SplitFromTableTest, SplitsByTimeColumn) {
  options.split = SplitKind::time;
  options.time_column = "Year";
  const LoadedData data = load_data(options);
  for (const auto g : data.split.test) EXPECT_GE(data.set.row[static_cast<std::size_t>(g)] * 7 % 20, 18);
  EXPECT_THAT(data.split.test, SizeIs(2));
  options.time_column = "month";
  EXPECT_THAT(message_of<DataError>([&] { load_data(options); }), HasSubstr("no column 'month' for the split"));
}

TEST_F(SplitFromTableTest, SplitsTablesAndStoresByOrder) {
  const std::string plain = folder.file("plain.h5"), split = folder.file("split.h5");
  load_to_store(options, plain);
  options.split = SplitKind::order;
  load_to_store(options, split);
  LoadOptions of_plain, of_split;
  of_plain.paths = {plain}, of_split.paths = {split};
  of_plain.split = SplitKind::order;
  for (const LoadOptions& one : {options, of_plain, of_split}) {
    const LoadedData data = load_data(one);
    EXPECT_EQ(data.split_name, "order");
    EXPECT_EQ(data.split.train, numbers(15)) << "0.8 of the 19 molecules";
    EXPECT_THAT(data.split.valid, ElementsAre(15, 16));
    EXPECT_THAT(data.split.test, ElementsAre(17, 18));
  }
}

/// Two tables. Ethanol has two rows in the training table: the second by order and the first by time.
class SplitOfTwoTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string train = folder.write("train.csv",
                                           "smiles,y,year\nC,1.5,2005\nCCO,2,2006\nCC,3,2001\nCCC,4,2004\n"
                                           "CCCC,5,2002\nCCCCC,6,2003\nOCC,8,2000\n");
    options.paths = {train, folder.write("test.csv", "smiles,y\nCN,7\nCF,9\n")};
    options.target_columns = {"y"};
    options.split_sizes = {0.5, 0.25, 0.25};
  }
  /// Checks the sets of the table and of a store made from it. All ensemble members have this validation set, and there
  /// are no inner folds.
  void expect_sets(const std::string& name, const std::vector<std::int64_t>& train,
                   const std::vector<std::int64_t>& valid) {
    const std::string store = folder.file("t.h5");
    EXPECT_EQ(load_to_store(options, store).split_name, name);
    LoadOptions stored;
    stored.paths = {store};
    for (LoadOptions one : {options, stored}) {
      one.inner_folds = 2;
      const LoadedData data = load_data(one);
      EXPECT_EQ(data.split_name, name);
      EXPECT_EQ(data.split.train, train);
      EXPECT_EQ(data.split.valid, valid);
      const std::int64_t first = std::ssize(train) + std::ssize(valid);
      EXPECT_THAT(data.split.test, ElementsAre(first, first + 1));
      EXPECT_THAT(data.inner, IsEmpty());
      one.member_splits = 3;
      const LoadedData with_rounds = load_data(one);
      ASSERT_THAT(with_rounds.member_splits, SizeIs(3));
      for (const Split& member : with_rounds.member_splits) EXPECT_EQ(member.valid, valid);
      EXPECT_THAT(with_rounds.notes.back(), HasSubstr("must not be trained on later rows"));
    }
  }
  ScratchFolder folder;
  LoadOptions options;
};

TEST_F(SplitOfTwoTablesTest, LatestTrainingRowsAreTheValidationSet) {
  options.split = SplitKind::time;
  options.time_column = "year";
  expect_sets("files by time", {1, 2, 4, 5}, {0, 3});  // 2005 and 2004; the earliest year of ethanol is 2000
  options.duplicates = Duplicates::keep;
  expect_sets("files by time", {1, 2, 4, 5, 6}, {0, 3});
  options.split_sizes = {1, 0, 0};
  EXPECT_THAT(load_data(options).split.valid, IsEmpty());
}

TEST_F(SplitOfTwoTablesTest, LastTrainingRowsAreTheValidationSet) {
  options.split = SplitKind::order;
  expect_sets("files by order", {0, 1, 2, 3}, {4, 5});
  options.duplicates = Duplicates::keep;
  expect_sets("files by order", {0, 1, 2, 3, 6}, {4, 5});
}

TEST_F(SplitOfTwoTablesTest, OtherSplitsAreErrors) {
  const auto expect_error = [&](auto change, const std::string& text) {
    LoadOptions copy = options;
    change(copy);
    for (const auto& call : {+[](const LoadOptions&o, const std::string&) { load_data(o); },
                             +[](const LoadOptions&o, const std::string&store) { load_to_store(o, store); }})
      EXPECT_THAT(message_of<UsageError>([&] { call(copy, folder.file("r.h5")); }), HasSubstr(text));
  };
  const std::string expected = "the tables define the split; with two, --split-type time or order";
  expect_error([](LoadOptions& o) { o.split = SplitKind::random; }, expected);
  expect_error([](LoadOptions& o) { o.split = SplitKind::order, o.splits_column = "y"; }, expected);
  expect_error([](LoadOptions& o) { o.split = SplitKind::order, o.paths.push_back(o.paths[1]); }, expected);
  expect_error([](LoadOptions& o) { o.split = SplitKind::order, o.folds = 2; }, "--folds computes its own splits");
  options.split = SplitKind::time;
  options.time_column = "month";
  EXPECT_THAT(message_of<DataError>([&] { load_data(options); }),
              AllOf(HasSubstr("train.csv: no column 'month' for the split"), Not(HasSubstr("test.csv"))));
  options.time_column = "year";
  options.paths[0] = folder.write("bad.csv", "smiles,y,year\nC,1.5,2005\nCC,2.5,soon\n");
  EXPECT_THAT(message_of<DataError>([&] { load_data(options); }), HasSubstr("bad.csv, row 2: neither a number"));
}

TEST_F(SplitFromTableTest, CrossValidatesByEveryKindOfSplit) {
  options.folds = 3;
  EXPECT_THAT(load_data(options).folds, SizeIs(3));
  EXPECT_EQ(load_data(options).split_name, "random folds");
  options.split = SplitKind::group;
  options.group_column = "batch";
  EXPECT_THAT(load_data(options).folds, SizeIs(3));
  options.split = SplitKind::scaffold;
  options.group_column.clear();
  EXPECT_THAT(message_of<UsageError>([&] { load_data(options); }), HasSubstr("only 1 groups"))
      << "chains have no scaffold";
}

TEST_F(SplitFromTableTest, ReadsRowNumbersFromASplitsFile) {
  options.splits_file = folder.write("s.json", R"([{"train": [0, 1, 7], "val": "2-4, 6", "test": [19]},
                                                   {"train": [5], "valid": [], "test": "8,9"}])");
  const LoadedData data = load_data(options);
  ASSERT_THAT(data.folds, SizeIs(2));
  EXPECT_EQ(data.split_name, "file");
  EXPECT_THAT(data.folds[0].train, ElementsAre(0, 1)) << "row 7 has no molecule";
  EXPECT_THAT(data.folds[0].valid, ElementsAre(2, 3, 4, 6));
  EXPECT_THAT(data.folds[0].test, ElementsAre(18)) << "the file contains row numbers";
  EXPECT_THAT(data.folds[1].test, ElementsAre(7, 8));
  const auto message = [&](const std::string& json) {
    options.splits_file = folder.write("bad.json", json);
    try {
      load_data(options);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("[{\"train\": [20]}]"), HasSubstr("row 20 does not exist; the rows are 0 to 19"));
  EXPECT_THAT(message("[{\"train\": [1], \"test\": [1]}]"), HasSubstr("row 1 occurs twice"));
  EXPECT_THAT(message("[{\"train\": \"3-1\"}]"), HasSubstr("3-1"));
  EXPECT_THAT(message("[{\"training\": [1]}]"), HasSubstr("training"));
  EXPECT_THAT(message("[{\"train\": {}}]"), HasSubstr("not a JSON list"));
  EXPECT_THAT(message("[{\"train\": [0.5]}]"), HasSubstr("0.5")) << "not row 0";
  EXPECT_THAT(message("[{\"train\": \"0.5-2\"}]"), HasSubstr("0.5-2"));
  EXPECT_THAT(message("[]"), HasSubstr("no split"));
  EXPECT_THAT(message("train: 1"), HasSubstr("not a JSON list"));
}

TEST_F(SplitFromTableTest, ContradictoryOptionsAreUsageErrors) {
  const auto expect_error = [&](auto change, const std::string& text) {
    LoadOptions copy = options;
    change(copy);
    EXPECT_THAT(message_of<UsageError>([&] { load_data(copy); }), HasSubstr(text));
  };
  expect_error([](LoadOptions& o) { o.group_column = "batch"; }, "require each other");
  expect_error([](LoadOptions& o) { o.split = SplitKind::time; }, "require each other");
  expect_error([](LoadOptions& o) { o.split = SplitKind::order, o.time_column = "year"; }, "require each other");
  expect_error([](LoadOptions& o) { o.split = SplitKind::order, o.folds = 2; }, "--folds computes its own splits");
  expect_error([](LoadOptions& o) { o.split = SplitKind::order, o.splits_column = "batch"; },
               "requires --split-type predefined");
  expect_error([](LoadOptions& o) { o.folds = 1; }, "at least 2");
  expect_error([](LoadOptions& o) { o.folds = 2, o.split = SplitKind::column; }, "--folds computes its own splits");
  expect_error([](LoadOptions& o) { o.splits_file = "x", o.folds = 2; }, "--splits-file cannot be combined");
  expect_error([](LoadOptions& o) { o.folds = 2, o.splits_column = "batch"; }, "and no --folds");
}

TEST_F(SplitFromTableTest, StoresRejectASplitTypeWithASplitsColumn) {
  LoadOptions stored = options;
  stored.split = SplitKind::random;
  load_to_store(stored, folder.file("s.h5"));
  LoadOptions from_store;
  from_store.paths = {folder.file("s.h5")};
  from_store.splits_column = "random";
  EXPECT_EQ(load_data(from_store).split_name, "random");
  from_store.split = SplitKind::scaffold;
  EXPECT_THAT(message_of<UsageError>([&] { load_data(from_store); }), HasSubstr("requires --split-type predefined"));
  from_store.split = SplitKind::automatic;
  from_store.folds = 2;
  EXPECT_THAT(message_of<UsageError>([&] { load_data(from_store); }), HasSubstr("and no --folds"));
}

}  // namespace
}  // namespace molgraph
