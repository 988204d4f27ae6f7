#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/featurize/path_walker.hpp"
#include "tests/featurize/small_graphs.hpp"

namespace molgraph {
namespace {

using test::chain_of;
using test::cubane;
using test::cyclobutane;
using test::expect_brute_force;
using test::graph_of;
using test::kTolerance;
using test::packed;
using test::path_sums;
using test::renumbered;

/// Includes three steroid-like fused six-membered rings and a cage, which have tied paths of several lengths.
std::vector<MolecularGraph> tied_molecules() {
  const MolecularGraph perhydrophenanthrene = graph_of(14, {{0, 1},
                                                            {1, 2},
                                                            {2, 3},
                                                            {3, 4},
                                                            {4, 5},
                                                            {5, 0},
                                                            {4, 6},
                                                            {6, 7},
                                                            {7, 8},
                                                            {8, 9},
                                                            {9, 5},
                                                            {8, 10},
                                                            {10, 11},
                                                            {11, 12},
                                                            {12, 13},
                                                            {13, 9}});
  const MolecularGraph adamantane =
      graph_of(10, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 6}, {6, 7}, {7, 8}, {8, 2}, {7, 9}, {9, 4}});
  const MolecularGraph two_fragments =
      graph_of(9, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 4}});
  return {cyclobutane(), cubane(), perhydrophenanthrene, graph_of(1, {}), adamantane, two_fragments, chain_of(12)};
}

TEST(PathSteps, CyclobutaneMatchesHandCalculation) {
  const GraphBatch mean = packed({cyclobutane()}, PathRule::mean);
  const PathSteps& steps = mean.paths;
  ASSERT_EQ(steps.levels(), 2);
  EXPECT_EQ(steps.level_pairs, (std::vector<std::int64_t>{0, 8, 12}));
  EXPECT_EQ(steps.level_steps, (std::vector<std::int64_t>{0, 8, 16}));
  // Level 1: (0,1) (0,3) (1,0) (1,2) (2,1) (2,3) (3,0) (3,2). Rows have five tokens, token 0 first.
  EXPECT_EQ(std::vector<std::int64_t>(steps.pair.begin(), steps.pair.begin() + 8),
            (std::vector<std::int64_t>{7, 9, 11, 13, 17, 19, 21, 23}));
  // Level 2: (0,2) through atoms 1 and 3, each with weight 1/2.
  EXPECT_EQ(steps.pair[8], 8);
  EXPECT_EQ(steps.source[8], 0);
  EXPECT_EQ(steps.source[9], 1);
  EXPECT_EQ(steps.target[8], 0);
  EXPECT_EQ(steps.target[9], 0);
  EXPECT_EQ(steps.weight[8], 0.5);
  EXPECT_EQ(steps.bond[8], 12 * 1 + 2 * 1 + 1);  // bond 1, atoms 1 and 2
  EXPECT_EQ(steps.bond[9], 12 * 2 + 2 * 2 + 0);  // bond 2, atoms 2 and 3
  for (std::size_t s = 0; s < 8; ++s) EXPECT_EQ(steps.source[s], -1);

  const PathSteps single = packed({cyclobutane()}, PathRule::single).paths;
  EXPECT_EQ(single.level_steps, (std::vector<std::int64_t>{0, 8, 12}));
  EXPECT_EQ(single.source[8], 0) << "(0,2) through atom 1, the smaller predecessor";
  EXPECT_EQ(single.weight[8], 1.0);
}

TEST(PathSteps, CubaneHasSixPathsBetweenOppositeCorners) {
  const GraphBatch batch = packed({cubane()}, PathRule::mean);
  const PathSteps& steps = batch.paths;
  ASSERT_EQ(steps.levels(), 3);
  EXPECT_EQ(steps.level_pairs, (std::vector<std::int64_t>{0, 24, 48, 56}));
  EXPECT_EQ(steps.level_steps, (std::vector<std::int64_t>{0, 24, 72, 96}));
  for (auto s = steps.level_steps[1]; s < steps.level_steps[2]; ++s)
    EXPECT_EQ(steps.weight[static_cast<std::size_t>(s)], 0.5);
  for (auto s = steps.level_steps[2]; s < steps.level_steps[3]; ++s) {
    EXPECT_NEAR(steps.weight[static_cast<std::size_t>(s)], 1.0 / 3.0, kTolerance);
  }
  EXPECT_EQ(expect_brute_force({cubane()}, PathRule::mean), 6u);
}

TEST(PathSteps, MeanRuleMatchesEnumerationOfAllPaths) {
  EXPECT_GE(expect_brute_force(tied_molecules(), PathRule::mean), 6u);
}
TEST(PathSteps, SingleRuleMatchesSmallestPredecessors) { expect_brute_force(tied_molecules(), PathRule::single); }

TEST(PathSteps, MeanIsInvariantUnderRenumbering) {
  std::mt19937 random(11);
  for (const MolecularGraph& graph : tied_molecules()) {
    const auto n = static_cast<std::size_t>(graph.num_atoms());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<double> own = path_sums(packed({graph}, PathRule::mean));
    const std::vector<double> other = path_sums(packed({renumbered(graph, order)}, PathRule::mean));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const auto oi = static_cast<std::size_t>(order[i]), oj = static_cast<std::size_t>(order[j]);
        EXPECT_NEAR(own[(i + 1) * (n + 1) + j + 1], other[(oi + 1) * (n + 1) + oj + 1], kTolerance);
      }
    }
  }
}

TEST(PathSteps, WeightsAreFiniteIfPathCountsOverflowDouble) {
  // A chain of 1,100 squares joined at opposite corners has 2^1100 shortest paths from end to end.
  constexpr int squares = 1100;
  std::vector<std::pair<int, int>> bonds;
  for (int k = 0; k < squares; ++k) {
    const int left = 3 * k;
    for (const int middle : {left + 1, left + 2}) {
      bonds.emplace_back(left, middle);
      bonds.emplace_back(middle, left + 3);
    }
  }
  const GraphBatch batch = packed({graph_of(3 * squares + 1, bonds)}, PathRule::mean);
  EXPECT_EQ(batch.paths.levels(), 2 * squares);
  double smallest = 1, largest = 0;
  for (const double weight : batch.paths.weight) {
    smallest = std::min(smallest, weight);
    largest = std::max(largest, weight);
  }
  EXPECT_EQ(smallest, 0.5);
  EXPECT_EQ(largest, 1.0);
}

}  // namespace
}  // namespace molgraph
