#include "datasets/splits/stratify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/load.hpp"
#include "datasets/splits/splits.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScratchFolder;
using Indices = std::vector<std::int64_t>;

std::array<const Indices*, 3> parts_of(const Split& split) { return {&split.train, &split.valid, &split.test}; }

/// Number of molecules of a set that have this class of this target.
std::int64_t count_of(const ClassLabels& labels, const Indices& part, std::size_t target, int label) {
  return std::ranges::count_if(part, [&](std::int64_t g) {
    return labels.classes[static_cast<std::size_t>(g) * labels.targets + target] == label;
  });
}

/// `count` molecules with `positives` positive labels, distributed by a fixed rule.
ClassLabels one_target(std::int64_t count, std::int64_t positives) {
  ClassLabels labels{1, std::vector<std::int32_t>(static_cast<std::size_t>(count), 0)};
  for (std::int64_t k = 0; k < positives; ++k) labels.classes[static_cast<std::size_t>(k * 7919 % count)] = 1;
  return labels;
}

TEST(Stratify, FewPositivesReachEverySet) {
  for (const std::int64_t positives : {3, 5, 12, 40}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const ClassLabels labels = one_target(401, positives);
      const Split split = stratified_split(401, labels, {0.8, 0.1, 0.1}, seed);
      const Split plain = random_split(401, {0.8, 0.1, 0.1}, seed);
      for (std::size_t p = 0; p < 3; ++p) {
        EXPECT_EQ(parts_of(split)[p]->size(), parts_of(plain)[p]->size()) << "the same sizes as a random split";
        const double share = static_cast<double>(positives) * (p == 0 ? 0.8 : 0.1);
        const auto found = static_cast<double>(count_of(labels, *parts_of(split)[p], 0, 1));
        EXPECT_GE(found, 1) << positives << " positives, part " << p;
        EXPECT_NEAR(found, share, positives < 12 ? 1.5 : 1.01) << positives << " positives, part " << p;
      }
      EXPECT_EQ(split.test, stratified_split(401, labels, {0.8, 0.1, 0.1}, seed).test) << "equal seeds give equal sets";
    }
  }
  const ClassLabels labels = one_target(401, 40);
  EXPECT_NE(stratified_split(401, labels, {0.8, 0.1, 0.1}, 0).test,
            stratified_split(401, labels, {0.8, 0.1, 0.1}, 1).test);
}

TEST(Stratify, EqualsTheRandomSplitWithoutClasses) {
  const Split plain = random_split(100, {0.8, 0.1, 0.1}, 3), split = stratified_split(100, {}, {0.8, 0.1, 0.1}, 3);
  EXPECT_EQ(split.train, plain.train);
  EXPECT_EQ(split.test, plain.test);
}

TEST(Stratify, SupportsManyTargetsWithMissingLabels) {
  constexpr std::size_t kTargets = 12;
  constexpr std::int64_t kCount = 2000;
  ClassLabels labels{kTargets};
  for (std::int64_t g = 0; g < kCount; ++g)
    for (std::size_t t = 0; t < kTargets; ++t) {
      const auto hash = static_cast<std::uint32_t>(g * 2654435761u + t * 40503u) >> 7u;
      const bool missing = hash % 5 == 0, positive = hash % (31 * (t + 1)) < 6;  // rarer from target to target
      labels.classes.push_back(missing ? std::int32_t{-1} : positive ? std::int32_t{1} : std::int32_t{0});
    }
  const Split split = stratified_split(kCount, labels, {0.8, 0.1, 0.1}, 1);
  Indices all;
  for (const Indices* part : parts_of(split)) all.insert(all.end(), part->begin(), part->end());
  std::ranges::sort(all);
  for (std::int64_t g = 0; g < kCount; ++g) ASSERT_EQ(all[static_cast<std::size_t>(g)], g) << "every molecule once";
  EXPECT_EQ(split.test.size(), 200u);
  for (std::size_t t = 0; t < kTargets; ++t)
    for (const int label : {0, 1}) {
      const auto whole = static_cast<double>(count_of(labels, all, t, label));
      ASSERT_GT(whole, 20);
      for (std::size_t p = 1; p < 3; ++p)
        EXPECT_NEAR(static_cast<double>(count_of(labels, *parts_of(split)[p], t, label)), 0.1 * whole, 2 + 0.02 * whole)
            << "target " << t << " label " << label << " part " << p;
    }
}

TEST(Stratify, TestAndValidationSetsOfFoldsAreStratified) {
  const ClassLabels labels = one_target(203, 10);
  const auto folds = k_fold_splits(203, {}, 5, {0.8, 0.1, 0.1}, 0, labels);
  ASSERT_EQ(folds.size(), 5u);
  Indices tested;
  for (const Split& fold : folds) {
    EXPECT_EQ(count_of(labels, fold.test, 0, 1), 2);
    EXPECT_EQ(count_of(labels, fold.valid, 0, 1), 1) << "0.1 / 0.9 of the remaining 8";
    EXPECT_NEAR(static_cast<double>(fold.test.size()), 40.6, 0.7);
    tested.insert(tested.end(), fold.test.begin(), fold.test.end());
  }
  std::ranges::sort(tested);
  EXPECT_EQ(std::ranges::unique(tested).size(), 0u);
  EXPECT_EQ(tested.size(), 203u);
}

TEST(Stratify, StratifiesEveryClassOfMulticlass) {
  ClassLabels labels{1};
  for (int g = 0; g < 300; ++g) labels.classes.push_back(static_cast<std::int32_t>(g < 200 ? 0 : g < 290 ? 1 : 2));
  const Split split = stratified_split(300, labels, {0.8, 0.1, 0.1}, 4);
  for (const auto& [label, expected] : {std::pair{0, 20}, {1, 9}, {2, 1}}) {
    EXPECT_NEAR(static_cast<double>(count_of(labels, split.valid, 0, label)), expected, 1);
    EXPECT_NEAR(static_cast<double>(count_of(labels, split.test, 0, label)), expected, 1);
  }
}

class StratifiedLoadTest : public ::testing::Test {
 protected:
  /// 60 alkanes and amines, four of them active.
  std::string table(const std::string& zero = "0", const std::string& one = "1") const {
    std::string text = "smiles,y\n";
    for (int r = 0; r < 60; ++r)
      text += std::string(static_cast<std::size_t>(r / 2 + 1), 'C') + (r % 2 ? "N" : "") + "," +
              (r % 15 == 2 ? one : zero) + "\n";
    return folder.write("t.csv", text);
  }
  static std::int64_t positives(const LoadedData& data, const Indices& part) {
    return std::ranges::count_if(part,
                                 [&](std::int64_t g) { return data.set.targets[static_cast<std::size_t>(g)] == 1; });
  }
  ScratchFolder folder;
};

TEST_F(StratifiedLoadTest, StratifiesRandomSplitsOfTablesAndStores) {
  LoadOptions options;
  options.paths = {table("no", "yes")};
  options.split = SplitKind::random;
  const LoadedData data = load_data(options);
  for (const Indices* part : parts_of(data.split)) EXPECT_GE(positives(data, *part), 1);
  EXPECT_THAT(data.notes, Contains(HasSubstr("stratified")));
  EXPECT_THAT(data.warnings, Not(Contains(HasSubstr("one class"))));

  load_to_store(options, folder.file("t.h5"));
  LoadOptions stored;
  stored.paths = {folder.file("t.h5")};
  EXPECT_EQ(load_data(stored).split.test, data.split.test) << "a store has the split of its table";
  stored.split = SplitKind::random;
  EXPECT_EQ(load_data(stored).split.test, data.split.test);

  options.split = SplitKind::automatic;
  options.paths = {table(), folder.write("test.csv", "smiles,y\nCO,1\nCCO,0\n")};
  const LoadedData two = load_data(options);
  EXPECT_EQ(positives(two, two.split.valid), 1);
  options.folds = 2;
  options.paths = {table()};
  for (const Split& fold : load_data(options).folds) EXPECT_EQ(positives(load_data(options), fold.test), 2);
}

TEST_F(StratifiedLoadTest, RegressionTargetsAreNotStratified) {
  std::string text = "smiles,y\n";
  for (int r = 0; r < 20; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + std::to_string(r) + ".5\n";
  LoadOptions options;
  options.paths = {folder.write("numbers.csv", text)};
  const LoadedData data = load_data(options);
  EXPECT_EQ(data.split.train, random_split(20, {0.8, 0.1, 0.1}, 0).train);
  EXPECT_THAT(data.notes, Not(Contains(HasSubstr("stratified"))));
}

TEST_F(StratifiedLoadTest, SetWithOneClassCausesAWarning) {
  std::string text = "smiles,y,part\n";
  for (int r = 0; r < 60; ++r)
    text += std::string(static_cast<std::size_t>(r + 1), 'C') + "," + (r % 4 ? "0" : "1") + "," +
            (r < 40  ? "train"
             : r % 4 ? "valid"
                     : "test") +
            "\n";
  LoadOptions options;
  options.paths = {folder.write("parts.csv", text)};
  options.splits_column = "part";
  const LoadedData data = load_data(options);
  EXPECT_THAT(data.warnings,
              Contains(AllOf(HasSubstr("'y' has one class only in the validation set"), HasSubstr("blank"))));
  EXPECT_THAT(data.warnings, Contains(HasSubstr("'y' has one class only in the test set")));
}

}  // namespace
}  // namespace molgraph
