// Compares the path recursion with an enumeration of all shortest paths of every pair.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "featurize/graph/pair_relations.hpp"

namespace molgraph::test {

/// Weights are quotients of exact counts. The sums have a few dozen terms of size 1.
inline constexpr double kTolerance = 1e-12;

inline GraphBatch packed(const std::vector<MolecularGraph>& graphs, PathRule rule) {
  std::vector<GraphView> views;
  std::vector<std::int64_t> rows;
  for (const auto& graph : graphs) {
    rows.push_back(static_cast<std::int64_t>(rows.size()));
    views.push_back(graph.view());
  }
  return pack(views, rows, {.paths = true, .path_rule = rule});
}

/// An arbitrary function of hop and bond in place of the table T[hop][bond id].
inline double hop_value(int hop, int bond) { return std::sin(1.0 + 3.7 * hop + 0.31 * bond * bond); }

/// The recursion as a model runs it. Returns the sums S(i, j) [pairs], 0 for pairs without a path.
inline std::vector<double> path_sums(const GraphBatch& batch) {
  const PathSteps& steps = batch.paths;
  std::vector<double> sums(static_cast<std::size_t>(batch.num_pairs()), 0.0);
  for (int m = 1; m <= steps.levels(); ++m) {
    for (auto s = steps.level_steps[m - 1]; s < steps.level_steps[m]; ++s) {
      const auto at = static_cast<std::size_t>(s);
      const double before =
          steps.source[at] < 0
              ? 0.0
              : sums[static_cast<std::size_t>(
                    steps.pair[static_cast<std::size_t>(steps.level_pairs[m - 2] + steps.source[at])])];
      sums[static_cast<std::size_t>(
          steps.pair[static_cast<std::size_t>(steps.level_pairs[m - 1] + steps.target[at])])] +=
          steps.weight[at] * (before + hop_value(m, static_cast<int>(steps.bond[at])));
    }
  }
  return sums;
}

/// Enumerates all shortest paths of one pair backwards from j, without counts or recursion over pairs.
class PathWalker {
 public:
  explicit PathWalker(const MolecularGraph& graph)
      : relations_(pair_relations(graph.view())), tokens_(static_cast<std::size_t>(graph.num_atoms()) + 1) {}

  /// The sum of hop_value over the hops of a path: mean over all paths, or the value of the path through the smallest
  /// predecessors.
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

/// Compares every pair of every molecule with the enumeration. Returns the largest number of paths of a pair.
inline std::size_t expect_brute_force(const std::vector<MolecularGraph>& graphs, PathRule rule) {
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

}  // namespace molgraph::test
