#include "datasets/splits/splits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "featurize/graph/error.hpp"
#include "featurize/graph/philox.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::SizeIs;
using Indices = std::vector<std::int64_t>;

// Known answers of Random123 (kat_vectors, philox4x32 with 10 member_splits), Salmon et al. 2011.
TEST(Philox, MatchesKnownAnswers) {
  struct Known {
    std::uint32_t counter[4], key[2], expected[4];
  };
  const Known known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Known& k : known) {
    std::uint32_t out[4];
    philox4x32_10(out, k.counter, k.key);
    EXPECT_THAT(out, ::testing::ElementsAreArray(k.expected));
  }
}

Indices shuffled(std::int64_t count, std::uint64_t seed, ShuffleStream purpose = ShuffleStream::split,
                 std::uint32_t epoch = 0) {
  Indices items(static_cast<std::size_t>(count));
  std::iota(items.begin(), items.end(), std::int64_t{0});
  shuffle(items, seed, purpose, epoch);
  return items;
}

/// Expects every index once, with each set in ascending order.
void expect_whole(const Split& split, std::int64_t count) {
  Indices all;
  for (const auto* part : {&split.train, &split.valid, &split.test}) {
    EXPECT_TRUE(std::ranges::is_sorted(*part));
    all.insert(all.end(), part->begin(), part->end());
  }
  std::ranges::sort(all);
  Indices expected(static_cast<std::size_t>(count));
  std::iota(expected.begin(), expected.end(), std::int64_t{0});
  EXPECT_EQ(all, expected);
}

TEST(Shuffle, IsTheSameOnEveryMachine) {
  // Recorded from this code: a change of the stream would silently change every random split.
  EXPECT_THAT(shuffled(10, 0), ElementsAre(8, 5, 4, 9, 6, 1, 7, 2, 0, 3));
}

TEST(Shuffle, StreamsDiffer) {
  const std::set<Indices> different{shuffled(50, 0), shuffled(50, 1), shuffled(50, std::uint64_t{1} << 32),
                                    shuffled(50, 0, ShuffleStream::epoch), shuffled(50, 0, ShuffleStream::epoch, 1)};
  EXPECT_THAT(different, SizeIs(5));
}

TEST(Shuffle, EveryPermutationIsEquallyLikely) {
  std::map<Indices, int> count;
  constexpr int kRuns = 24000;
  for (int seed = 0; seed < kRuns; ++seed) ++count[shuffled(4, static_cast<std::uint64_t>(seed))];
  ASSERT_THAT(count, SizeIs(24));
  double chi_square = 0;
  for (const auto& [permutation, times] : count) chi_square += (times - 1000.0) * (times - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.7) << "23 degrees of freedom: a fair shuffle exceeds this once in 1,000";
}

TEST(RandomSplit, SizesAndSeeds) {
  const Split split = random_split(1128, {0.8, 0.1, 0.1}, 0);
  expect_whole(split, 1128);
  EXPECT_THAT(split.train, SizeIs(902));
  EXPECT_THAT(split.valid, SizeIs(113));
  EXPECT_THAT(split.test, SizeIs(113));
  EXPECT_EQ(split.train, random_split(1128, {8, 1, 1}, 0).train) << "sizes are normalised";
  EXPECT_NE(split.train, random_split(1128, {0.8, 0.1, 0.1}, 1).train);
}

TEST(RandomSplit, SmallDataStillFillsEverySet) {
  const Split five = random_split(5, {0.8, 0.1, 0.1}, 0);
  EXPECT_THAT(five.train, SizeIs(3));
  EXPECT_THAT(five.valid, SizeIs(1));
  EXPECT_THAT(five.test, SizeIs(1));
  EXPECT_THAT(random_split(1, {0.8, 0.1, 0.1}, 0).train.size() + random_split(1, {0.8, 0.1, 0.1}, 0).test.size(), 1u);
  const Split all = random_split(7, {1, 0, 0}, 0);
  EXPECT_THAT(all.train, SizeIs(7));
  const Split no_test = random_split(7, {0.9, 0.1, 0}, 0);
  EXPECT_THAT(no_test.test, IsEmpty());
  expect_whole(no_test, 7);
}

TEST(RandomSplit, InvalidSizesAreErrors) {
  EXPECT_THAT(message_of<UsageError>([] { random_split(9, {0.8, -0.1, 0.3}, 0); }), HasSubstr("non-negative"));
  EXPECT_THAT(message_of<UsageError>([] { random_split(9, {0, 0.5, 0.5}, 0); }), HasSubstr("training set"));
  EXPECT_THAT(message_of<UsageError>([] { random_split(9, {1, std::nan(""), 0}, 0); }), HasSubstr("non-negative"));
}

TEST(ScaffoldSplit, FollowsOgbsOrder) {
  // Hand calculation for 10 molecules. Group a has 4; b and c have 2 each (c begins later, so it comes first); d and e
  // have 1 each.
  const std::vector<std::string> scaffolds{"a", "b", "a", "c", "d", "a", "c", "b", "a", "e"};
  const Split split = scaffold_split(scaffolds, {0.6, 0.2, 0.2});
  EXPECT_THAT(split.train, ElementsAre(0, 2, 3, 5, 6, 8));  // a, then c
  EXPECT_THAT(split.valid, ElementsAre(1, 7));              // b no longer fits
  EXPECT_THAT(split.test, ElementsAre(4, 9));
}

TEST(ScaffoldBalancedSplit, KeepsGroupsTogetherAndLargeOnesInTrain) {
  std::vector<std::string> scaffolds;
  for (int g = 0; g < 400; ++g) scaffolds.push_back(g < 40 ? "large" : "s" + std::to_string(g % 120));
  const Split split = scaffold_balanced_split(scaffolds, {0.8, 0.1, 0.1}, 0);
  expect_whole(split, 400);
  std::map<std::string, std::set<int>> parts;
  int p = 0;
  for (const auto* part : {&split.train, &split.valid, &split.test}) {
    for (const auto g : *part) parts[scaffolds[static_cast<std::size_t>(g)]].insert(p);
    ++p;
  }
  for (const auto& [scaffold, in] : parts) EXPECT_THAT(in, SizeIs(1)) << scaffold;
  EXPECT_TRUE(parts["large"].contains(0));
  EXPECT_NEAR(static_cast<double>(split.valid.size()), 40, 4);
  EXPECT_NEAR(static_cast<double>(split.test.size()), 40, 4);
  EXPECT_NE(split.valid, scaffold_balanced_split(scaffolds, {0.8, 0.1, 0.1}, 1).valid);
  EXPECT_THAT(scaffold_balanced_split(scaffolds, {0.9, 0.1, 0}, 0).test, IsEmpty());
}

TEST(ScaffoldBalancedSplit, AGroupLargerThanEverySetBecomesTheLargestSet) {
  std::vector<std::string> groups(200);
  for (std::size_t g = 0; g < 200; ++g)
    groups[g] = g % 10 != 0 ? "giant" : "s" + std::to_string(g / 20);  // 180, 2 each
  const Split split = scaffold_balanced_split(groups, {0.8, 0.1, 0.1}, 0);
  expect_whole(split, 200);
  EXPECT_THAT(split.train, SizeIs(180));
  EXPECT_THAT(split.valid, SizeIs(10));
  EXPECT_THAT(split.test, SizeIs(10));
  const Split large_test = scaffold_balanced_split(groups, {0.2, 0.1, 0.7}, 0);
  expect_whole(large_test, 200);
  EXPECT_THAT(large_test.test, SizeIs(182));
  EXPECT_THAT(large_test.train, SizeIs(12));  // of 13.3
  EXPECT_THAT(large_test.valid, SizeIs(6));   // of 6.7
  EXPECT_THAT(scaffold_balanced_split(groups, {0.1, 0.8, 0.1}, 0).valid, SizeIs(180));
  EXPECT_THAT(scaffold_balanced_split(groups, {0.8, 0.2, 0}, 0).valid, SizeIs(20));
  EXPECT_THAT(scaffold_balanced_split(std::vector<std::string>(9), {0.8, 0.1, 0.1}, 0).train, SizeIs(9));
}

TEST(SplitPart, AcceptsWordsInAnyCase) {
  Split split;
  std::int64_t row = 0;
  for (const char* cell : {"train", "Val", " TEST ", "", "validation", "valid"}) {
    add_to_part(split, split_part_of_cell(cell, "x.csv", row), row);
    ++row;
  }
  EXPECT_THAT(split.train, ElementsAre(0));
  EXPECT_THAT(split.valid, ElementsAre(1, 4, 5));
  EXPECT_THAT(split.test, ElementsAre(2));
  EXPECT_THAT(message_of<DataError>([] { (void)split_part_of_cell("dev", "x.csv", 6); }),
              AllOf(HasSubstr("x.csv, row 7"), HasSubstr("dev")));
}

}  // namespace
}  // namespace molgraph
