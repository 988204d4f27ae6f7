#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "featurize/graph_batch.hpp"
#include "featurize/pair_relations.hpp"
#include "tests/featurize/small_graphs.hpp"

namespace molgraph {
namespace {

using test::chain_of;
using test::cubane;
using test::cyclobutane;
using test::graph_of;
using test::renumbered;

/// Weights are quotients of exact counts; sums of a few dozen terms of size 1.
constexpr double kTolerance = 1e-12;

GraphBatch packed(const std::vector<MolecularGraph>& graphs, PathRule rule) {
  std::vector<GraphView> views;
  std::vector<std::int64_t> rows;
  for (const auto& graph : graphs) {
    rows.push_back(static_cast<std::int64_t>(rows.size()));
    views.push_back(graph.view());
  }
  return pack(views, rows, {.paths = true, .path_rule = rule});
}

/// Any number that depends on the hop and the bond: stands for the table T[hop][bond id].
double hop_value(int hop, int bond) { return std::sin(1.0 + 3.7 * hop + 0.31 * bond * bond); }

/// The recursion as a model runs it; [pairs] sums S(i, j), 0 where there is none.
std::vector<double> path_sums(const GraphBatch& batch) {
  const PathSteps& steps = batch.paths;
  std::vector<double> sums(static_cast<std::size_t>(batch.num_pairs()), 0.0);
  for (int m = 1; m <= steps.levels(); ++m) {
    for (auto s = steps.level_steps[m - 1]; s < steps.level_steps[m]; ++s) {
      const auto at = static_cast<std::size_t>(s);
      const double before = steps.source[at] < 0
                                ? 0.0
                                : sums[static_cast<std::size_t>(steps.pair[static_cast<std::size_t>(
                                      steps.level_pairs[m - 2] + steps.source[at])])];
      sums[static_cast<std::size_t>(steps.pair[static_cast<std::size_t>(steps.level_pairs[m - 1] + steps.target[at])])] +=
          steps.weight[at] * (before + hop_value(m, static_cast<int>(steps.bond[at])));
    }
  }
  return sums;
}

/// All shortest paths of one pair, walked back from j one by one: no counts, no recursion over pairs.
class PathWalker {
 public:
  explicit PathWalker(const MolecularGraph& graph)
      : relations_(pair_relations(graph.view())), tokens_(static_cast<std::size_t>(graph.num_atoms()) + 1) {}

  /// Mean over the paths (or the value of the path through the smallest predecessors), of sum over hops of hop_value.
  double value(std::size_t i, std::size_t j, PathRule rule) {
    total_ = 0;
    paths_ = 0;
    walk(i, j, 0.0, rule);
    return paths_ == 0 ? 0.0 : total_ / static_cast<double>(paths_);
  }
  std::size_t paths() const { return paths_; }

 private:
  void walk(std::size_t i, std::size_t j, double sum, PathRule rule) {
    if (i == j) {
      total_ += sum;
      ++paths_;
      return;
    }
    const int distance = relations_.topology[i * tokens_ + j];
    if (distance >= kUnreachable) return;
    for (std::size_t u = 1; u < tokens_; ++u) {
      const int bond = relations_.edge[u * tokens_ + j];
      if (bond == kNoEdge || bond == kSelfEdge || relations_.topology[i * tokens_ + u] != distance - 1) continue;
      walk(i, u, sum + hop_value(distance, bond), rule);
      if (rule == PathRule::single) return;
    }
  }
  PairRelations relations_;
  std::size_t tokens_;
  double total_ = 0;
  std::size_t paths_ = 0;
};

/// Compares every pair of every molecule with the walked paths; returns the largest number of ties met.
std::size_t expect_brute_force(const std::vector<MolecularGraph>& graphs, PathRule rule) {
  const GraphBatch batch = packed(graphs, rule);
  const std::vector<double> sums = path_sums(batch);
  std::size_t most_paths = 0;
  for (std::size_t b = 0; b < graphs.size(); ++b) {
    PathWalker walker(graphs[b]);
    const auto tokens = static_cast<std::size_t>(graphs[b].num_atoms()) + 1;
    for (std::size_t i = 1; i < tokens; ++i) {
      for (std::size_t j = 1; j < tokens; ++j) {
        const double expected = walker.value(i, j, rule);
        most_paths = std::max(most_paths, walker.paths());
        EXPECT_NEAR(sums[static_cast<std::size_t>(batch.pair_offset[b]) + i * tokens + j], expected, kTolerance)
            << "molecule " << b << ", pair " << i << "," << j;
      }
    }
  }
  return most_paths;
}

/// Three steroid-like fused six-rings and a cage: several ties of different length.
std::vector<MolecularGraph> tied_molecules() {
  const MolecularGraph perhydrophenanthrene =
      graph_of(14, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {4, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 5}, {8, 10},
                    {10, 11}, {11, 12}, {12, 13}, {13, 9}});
  const MolecularGraph adamantane =
      graph_of(10, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 6}, {6, 7}, {7, 8}, {8, 2}, {7, 9}, {9, 4}});
  const MolecularGraph two_fragments = graph_of(9, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 4}});
  return {cyclobutane(), cubane(), perhydrophenanthrene, graph_of(1, {}), adamantane, two_fragments, chain_of(12)};
}

TEST(PathSteps, CyclobutaneByHand) {
  const GraphBatch mean = packed({cyclobutane()}, PathRule::mean);
  const PathSteps& steps = mean.paths;
  ASSERT_EQ(steps.levels(), 2);
  EXPECT_EQ(steps.level_pairs, (std::vector<std::int64_t>{0, 8, 12}));
  EXPECT_EQ(steps.level_steps, (std::vector<std::int64_t>{0, 8, 16}));
  // Level 1: (0,1) (0,3) (1,0) (1,2) (2,1) (2,3) (3,0) (3,2), five tokens wide with token 0 first.
  EXPECT_EQ(std::vector<std::int64_t>(steps.pair.begin(), steps.pair.begin() + 8),
            (std::vector<std::int64_t>{7, 9, 11, 13, 17, 19, 21, 23}));
  // Level 2: (0,2) through 1 and 3, each with weight one half.
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
  for (auto s = steps.level_steps[1]; s < steps.level_steps[2]; ++s) EXPECT_EQ(steps.weight[static_cast<std::size_t>(s)], 0.5);
  for (auto s = steps.level_steps[2]; s < steps.level_steps[3]; ++s) {
    EXPECT_NEAR(steps.weight[static_cast<std::size_t>(s)], 1.0 / 3.0, kTolerance);
  }
  EXPECT_EQ(expect_brute_force({cubane()}, PathRule::mean), 6u);
}

TEST(PathSteps, MeanEqualsWalkingEveryShortestPath) { EXPECT_GE(expect_brute_force(tied_molecules(), PathRule::mean), 6u); }
TEST(PathSteps, SingleEqualsWalkingSmallestPredecessors) { expect_brute_force(tied_molecules(), PathRule::single); }

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

TEST(PathSteps, CountsBeyondTheRangeOfADoubleStayFinite) {
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
