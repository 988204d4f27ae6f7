// Row weights: a column of a table, kept by sets and stores.
#include "datasets/row_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
using ::testing::Not;
using testing::ScratchFolder;

class RowWeights : public ::testing::Test {
 protected:
  RowWeights() {
    options.weight_column = "trust";
    options.splits_column = "part";
  }
  LoadedData load_text(const std::string& content) {
    options.paths = {folder.write("table.csv", content)};
    return load_data(options);
  }
  LoadOptions options;
  ScratchFolder folder;
};

TEST_F(RowWeights, AreReadAndAreNotTargets) {
  const LoadedData data =
      load_text("smiles,y,trust,part\nC,1,1,train\nCC,2,0.25,train\nCCC,3,0,train\nCCCC,4,3,val\nCCCCC,5,0,test\n");
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.set.weight, ElementsAre(1, 0.25f, 0, 3, 0));
  EXPECT_THAT(data.split.train, ElementsAre(0, 1)) << "weight 0 is not trained on";
  EXPECT_THAT(data.split.test, ElementsAre(4)) << "but is evaluated";
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("row weights from 0 to 3"), HasSubstr("1 training row of weight 0"))));
  EXPECT_THAT(load_text("smiles,y,trust,part\nC,1,1,train\nCC,2,1,train\nCCC,3,1,val\nCN,3,1,test\n").set.weight,
              IsEmpty());
}

TEST_F(RowWeights, InvalidWeightErrorNamesRowAndColumn) {
  for (const char* bad : {"", "-1", "high", "nan", "1e99"}) {
    const std::string text = "smiles,y,trust,part\nC,1,1,train\nCC,2," + std::string(bad) + ",train\n";
    EXPECT_THAT(message_of<DataError>([&] { load_text(text); }),
                AllOf(HasSubstr("row 2"), HasSubstr("'trust': the weight must be")))
        << "'" << bad << "'";
  }
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y,part\nC,1,train\n"); }),
              HasSubstr("no column 'trust' for the weights"));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y,trust,part\nC,1,0,train\nCC,2,1,val\nCN,3,1,test\n"); }),
              HasSubstr("no row of the training set has a weight above 0"));
  options.target_columns = {"trust"};
  EXPECT_THAT(message_of<UsageError>([&] { load_text("smiles,y,trust,part\nC,1,1,train\n"); }),
              HasSubstr("both a target and --weight-column"));
}

TEST_F(RowWeights, TestTablesMayLackWeights) {
  options.splits_column.clear();
  options.paths = {folder.write("train.csv", "smiles,y,trust\nC,1,2\nCC,2,1\nCO,2,1\n"),
                   folder.write("valid.csv", "smiles,y\nCCC,3\n"), folder.write("test.csv", "smiles,y\nCCCC,4\n")};
  EXPECT_THAT(load_data(options).set.weight, ElementsAre(2, 1, 1, 1, 1));
  std::swap(options.paths[0], options.paths[1]);
  EXPECT_THAT(message_of<DataError>([&] { load_data(options); }), HasSubstr("no column 'trust'"));
}

TEST_F(RowWeights, StoresKeepWeights) {
  options.paths = {folder.write(
      "table.csv", "smiles,y,trust,part\nC,1,1,train\nCC,2,1,train\nCCC,3,0.5,train\nCN,4,0,train\nCO,5,1,test\n")};
  load_to_store(options, folder.file("a.h5"));
  LoadOptions from;
  from.paths = {folder.file("a.h5")};
  const LoadedData data = load_data(from);
  EXPECT_THAT(data.set.weight, ElementsAre(1, 1, 0.5f, 0, 1));
  EXPECT_THAT(data.split.train, ElementsAre(0, 1, 2));
  from.limit = 4;
  EXPECT_THAT(load_data(from).set.weight, ElementsAre(1, 1, 0.5f, 1));
  from.weight_column = "trust";
  EXPECT_THAT(message_of<UsageError>([&] { load_data(from); }), HasSubstr("already contains the weights"));
}

TEST(UnlabelledRows, AreNotTrainedOn) {
  ScratchFolder folder;
  LoadOptions options;
  options.splits_column = "part";
  options.target_columns = {"y", "z"};
  const auto load_text = [&](const std::string& rows) {
    options.paths = {folder.write("table.csv", "smiles,y,z,a,part\n" + rows)};
    return load_data(options);
  };
  const std::string table = "C,1,,,train\nCC,,2,1,train\nCCC,,,,train\nCCCC,,,3,train\nCN,3,>1,,val\nCO,,,,test\n";
  LoadedData data = load_text(table);
  EXPECT_THAT(data.split.train, ElementsAre(0, 1));
  EXPECT_THAT(data.split.test, ElementsAre(5)) << "test rows without labels are predicted";
  EXPECT_THAT(data.notes, Contains(HasSubstr("2 training rows have no label and are not trained on")));
  options.auxiliary_columns = {"a"};
  data = load_text(table);
  EXPECT_THAT(data.split.train, ElementsAre(0, 1, 3)) << "an auxiliary label counts as a label";
  EXPECT_THAT(data.notes, Contains(HasSubstr("1 training row has no label and is not trained on")));
  options.auxiliary_columns = {};
  data = load_text("C,1,2,,train\nCC,,>2,1,train\nCN,3,1,,val\nCO,,,,test\n");
  EXPECT_THAT(data.split.train, ElementsAre(0, 1)) << "a limit counts as a label";
  EXPECT_THAT(data.notes, Not(Contains(HasSubstr("no label"))));
  EXPECT_THAT(message_of<DataError>([&] { load_text("C,,,1,train\nCN,3,1,,val\n"); }),
              HasSubstr("no row of the training set has a label"));
}

// Every third molecule has no label.
TEST(UnlabelledRows, AreNotTrainedOnInAnySplit) {
  ScratchFolder folder;
  std::string rows = "smiles,y\n";
  for (int g = 0; g < 30; ++g)
    rows += std::string(static_cast<std::size_t>(g + 1), 'C') + (g % 3 == 0 ? ",\n" : "," + std::to_string(g) + "\n");
  LoadOptions options;
  options.paths = {folder.write("table.csv", rows)};
  const auto trains_only_on_labels = [&](const std::vector<Split>& splits) {
    return std::ranges::all_of(splits, [](const Split& split) {
      return !split.train.empty() && std::ranges::none_of(split.train, [](std::int64_t g) { return g % 3 == 0; });
    });
  };
  options.folds = 3;
  const LoadedData folds = load_data(options);
  EXPECT_EQ(folds.folds.size(), 3u);
  EXPECT_TRUE(trains_only_on_labels(folds.folds));
  EXPECT_THAT(folds.notes, Contains(HasSubstr("are not trained on in the first split")));
  options.folds = 0;
  options.member_splits = 3;
  EXPECT_EQ(load_data(options).member_splits.size(), 3u);
  EXPECT_TRUE(trains_only_on_labels(load_data(options).member_splits));
  options.member_splits = 0;
  options.inner_folds = 5;
  EXPECT_EQ(load_data(options).inner.size(), 5u);
  EXPECT_TRUE(trains_only_on_labels(load_data(options).inner));
  load_to_store({.paths = options.paths}, folder.file("a.h5"));
  options.paths = {folder.file("a.h5")};
  options.split = SplitKind::random;
  EXPECT_EQ(load_data(options).inner.size(), 5u);
  EXPECT_TRUE(trains_only_on_labels(load_data(options).inner));
}

}  // namespace
}  // namespace molgraph
