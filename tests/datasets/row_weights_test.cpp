// Weights of rows: a column of a table, kept by sets and stores.
#include "datasets/row_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(RowWeights, AreReadAndAreNoTargets) {
  const LoadedData data =
      load_text("smiles,y,trust,part\nC,1,1,train\nCC,2,0.25,train\nCCC,3,0,train\nCCCC,4,3,val\nCCCCC,5,0,test\n");
  EXPECT_THAT(data.set.task.names, ElementsAre("y"));
  EXPECT_THAT(data.set.weight, ElementsAre(1, 0.25f, 0, 3, 0));
  EXPECT_THAT(data.split.train, ElementsAre(0, 1)) << "weight 0 is not trained on";
  EXPECT_THAT(data.split.test, ElementsAre(4)) << "but evaluated";
  EXPECT_THAT(data.notes,
              Contains(AllOf(HasSubstr("row weights from 0 to 3"), HasSubstr("1 training row of weight 0"))));
  EXPECT_THAT(load_text("smiles,y,trust,part\nC,1,1,train\nCC,2,1,train\nCCC,3,1,val\nCN,3,1,test\n").set.weight,
              IsEmpty());
}

TEST_F(RowWeights, WhatIsNoWeightNamesRowAndText) {
  for (const char* bad : {"", "-1", "high", "nan", "1e99"}) {
    const std::string text = "smiles,y,trust,part\nC,1,1,train\nCC,2," + std::string(bad) + ",train\n";
    EXPECT_THAT(message_of<DataError>([&] { load_text(text); }),
                AllOf(HasSubstr("row 2"), HasSubstr("'trust' holds no weight here")))
        << "'" << bad << "'";
  }
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y,part\nC,1,train\n"); }),
              HasSubstr("no column 'trust' of weights"));
  EXPECT_THAT(message_of<DataError>([&] { load_text("smiles,y,trust,part\nC,1,0,train\nCC,2,1,val\nCN,3,1,test\n"); }),
              HasSubstr("no row of the training part has a weight above 0"));
  options.target_columns = {"trust"};
  EXPECT_THAT(message_of<UsageError>([&] { load_text("smiles,y,trust,part\nC,1,1,train\n"); }),
              HasSubstr("both a target and --weight-column"));
}

TEST_F(RowWeights, ATableOfTestDataMayLackThem) {
  options.splits_column.clear();
  options.paths = {folder.write("train.csv", "smiles,y,trust\nC,1,2\nCC,2,1\nCO,2,1\n"),
                   folder.write("valid.csv", "smiles,y\nCCC,3\n"), folder.write("test.csv", "smiles,y\nCCCC,4\n")};
  EXPECT_THAT(load_data(options).set.weight, ElementsAre(2, 1, 1, 1, 1));
  std::swap(options.paths[0], options.paths[1]);
  EXPECT_THAT(message_of<DataError>([&] { load_data(options); }), HasSubstr("no column 'trust'"));
}

TEST_F(RowWeights, StoresKeepThem) {
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
  EXPECT_THAT(message_of<UsageError>([&] { load_data(from); }), HasSubstr("have their weights already"));
}

}  // namespace
}  // namespace molgraph
