// Loading options without effect are errors, for tables, named data sets and stores.
#include "datasets/load_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "datasets/system/machine.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::ScratchFolder;

class LoadChecks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text = "smiles,y,part\n";
    for (int i = 1; i <= 12; ++i)
      text += std::string(static_cast<std::size_t>(i), 'C') + "," + std::to_string(i) + "," +
              (i % 3 ? "train" : "test") + "\n";
    table = folder.write("t.csv", text);
  }
  LoadOptions options(std::vector<std::string> paths) const {
    LoadOptions options;
    options.paths = std::move(paths);
    return options;
  }
  void expect_error(LoadOptions options, const std::string& flag,
                    const std::function<void(LoadOptions&)>& change) const {
    change(options);
    EXPECT_THAT(message_of<UsageError>([&] { load_data(options); }), HasSubstr(flag));
  }
  ScratchFolder folder;
  std::string table;
};

TEST_F(LoadChecks, OptionsWithoutEffectOnTablesAreErrors) {
  expect_error(options({table}), "--data-dir", [](LoadOptions& o) { o.data_dir = "/data"; });
  expect_error(options({table}), "--subset", [](LoadOptions& o) { o.subset = "full"; });
  expect_error(options({table}), "--split-sizes", [](LoadOptions& o) {
    o.splits_column = "part", o.split_sizes = {0.5, 0.25, 0.25};
  });
  expect_error(options({table, table, table}), "--split-sizes", [](LoadOptions& o) {
    o.split_sizes = {0.5, 0.25, 0.25};
  });
  const std::string sdf = folder.write("a.sdf",
                                       "methane\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    "
                                       "0.0000 C   0  0\nM  END\n>  <y>\n1\n\n$$$$\n");
  expect_error(options({sdf}), "--no-header", [](LoadOptions& o) { o.table.no_header = true; });
  LoadOptions two = options({table, table});
  two.split_sizes = {0.5, 0.5, 0};
  EXPECT_EQ(load_data(two).split.valid.size(), 6u)
      << "the sizes apply to the validation set drawn from the training set";
}

TEST_F(LoadChecks, OptionsWithoutEffectOnNamedDataSetsAreErrors) {
  expect_error(options({"demo"}), "--smiles-column", [](LoadOptions& o) { o.table.smiles_column = "s", o.limit = 5; });
  expect_error(options({"demo"}), "--format", [](LoadOptions& o) { o.table.format = TableFormat::csv, o.limit = 5; });
}

TEST_F(LoadChecks, OptionsWithoutEffectOnStoresAreErrors) {
  LoadOptions make = options({table});
  make.require_targets = false;
  const std::string store = folder.file("t.h5");
  LoadOptions sizes = make;
  sizes.split_sizes = {0.5, 0.25, 0.25};
  EXPECT_THAT(message_of<UsageError>([&] { load_to_store(sizes, store); }), HasSubstr("--split-sizes"));
  sizes.split = SplitKind::random;
  load_to_store(sizes, store);
  expect_error(options({store}), "--max-atoms", [](LoadOptions& o) { o.limits.max_atoms = 3; });
  expect_error(options({store}), "--smiles-column", [](LoadOptions& o) { o.table.smiles_column = "smiles"; });
  expect_error(options({store}), "--no-header", [](LoadOptions& o) { o.table.no_header = true; });
  expect_error(options({store}), "--subset", [](LoadOptions& o) { o.subset = "full"; });
  expect_error(options({store}), "--data-dir", [](LoadOptions& o) { o.data_dir = "/data"; });
  expect_error(options({store}), "--split-sizes", [](LoadOptions& o) { o.split_sizes = {0.5, 0.25, 0.25}; });
  EXPECT_EQ(load_data(options({store})).set.size(), 12);
}

TEST(Machine, ReportsMemoryAndControlGroups) {
  EXPECT_GT(machine_memory(), 1e8);
  EXPECT_LT(machine_memory(), 1e15);
  for (const std::string& folder : control_groups("memory"))
    EXPECT_TRUE(folder.starts_with("/sys/fs/cgroup")) << folder;
}

}  // namespace
}  // namespace molgraph
