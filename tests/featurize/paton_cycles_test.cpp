#include "featurize/smiles/paton_cycles.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace molgraph {
namespace {

int longest(int vertices, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(vertices));
  for (const auto& [a, b] : edges) {
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  for (auto& row : neighbours) std::sort(row.begin(), row.end());
  return longest_paton_cycle(neighbours);
}

std::vector<std::pair<int, int>> ring(int size, int first = 0) {
  std::vector<std::pair<int, int>> edges;
  for (int k = 0; k < size; ++k) edges.emplace_back(first + k, first + (k + 1) % size);
  return edges;
}

TEST(PatonCycles, ForestsHaveNoCycles) {
  EXPECT_EQ(longest(0, {}), 0);
  EXPECT_EQ(longest(4, {{0, 1}, {1, 2}}), 0);
}

TEST(PatonCycles, FindsSingleRings) {
  for (int size = 3; size < 20; ++size) EXPECT_EQ(longest(size, ring(size)), size);
}

TEST(PatonCycles, SearchesEveryComponent) {
  auto edges = ring(5);
  for (const auto& edge : ring(9, 5)) edges.push_back(edge);
  EXPECT_EQ(longest(14, edges), 9);
}

TEST(PatonCycles, BasisDependsOnVertexOrderAsPublished) {
  // A square with a diagonal, 0-1-2-3-0 and 0-2. By hand: 0 finds the neighbours 1, 2, 3; 3 is examined
  // first and meets 2 (3-2-0, a triangle); 2 then meets 1 (2-1-0), another triangle.
  EXPECT_EQ(longest(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}), 3);
  // The same square with the diagonal 1-3. 0 finds the neighbours 1 and 3; 3 is examined first: it meets 1
  // (3-0-1, a triangle) and finds 2; 2 meets 1, which was reached from 0 and 3, so the climb 2-3 ends at 3: a triangle.
  EXPECT_EQ(longest(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {1, 3}}), 3);
  // Two squares on a common edge, corners 0-1-2-3 and 2-3-4-5 with edges 2-4, 4-5, 5-3: 0 finds 1 and 3; 3 finds 2
  // and 5; 5 finds 4; 4 meets 2 (4-5-3-2, a square); 2 meets 1, reached from 0 only: 2-3-0-1, a square.
  EXPECT_EQ(longest(6, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {4, 5}, {5, 3}}), 4);
  // Cube: it has six faces, but the basis of five contains a longer cycle in this order. 0 finds 1, 2, 4; 4 finds 5, 6;
  // 6 meets 2 (6-4-0-2, length 4) and finds 7; 7 finds 3, which is new, and meets 5 (7-6-4-5, length 4);
  // 3 meets 1: climbs 3-7-6-4-0, and 1 was reached from 0: 1-3-7-6-4-0, a cycle of 6.
  EXPECT_EQ(
      longest(8, {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}}), 6);
}

}  // namespace
}  // namespace molgraph
