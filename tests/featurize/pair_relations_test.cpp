#include "featurize/graph/pair_relations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/featurize/small_graphs.hpp"

namespace molgraph {
namespace {

using test::chain_of;
using test::cubane;
using test::graph_of;

/// Distances by the Floyd-Warshall algorithm, which is independent of the tested breadth-first search.
std::vector<int> all_distances(const MolecularGraph& graph) {
  const auto n = static_cast<std::size_t>(graph.num_atoms());
  constexpr int far = std::numeric_limits<int>::max() / 4;
  std::vector<int> distance(n * n, far);
  for (std::size_t a = 0; a < n; ++a) distance[a * n + a] = 0;
  for (std::size_t b = 0; b < graph.bond_atoms.size(); b += 2) {
    const auto i = static_cast<std::size_t>(graph.bond_atoms[b]), j = static_cast<std::size_t>(graph.bond_atoms[b + 1]);
    distance[i * n + j] = distance[j * n + i] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        distance[i * n + j] = std::min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
      }
    }
  }
  for (int& d : distance) d = d == far ? kUnreachable : d;
  return distance;
}

void expect_relations(const MolecularGraph& graph) {
  const PairRelations pairs = pair_relations(graph.view());
  const auto n = static_cast<std::size_t>(graph.num_atoms());
  const std::size_t tokens = n + 1;
  ASSERT_EQ(pairs.topology.size(), tokens * tokens);
  ASSERT_EQ(pairs.edge.size(), tokens * tokens);
  std::vector<int> edge(tokens * tokens, kNoEdge);
  for (std::size_t t = 0; t < tokens; ++t) {
    edge[t * tokens + t] = kSelfEdge;
    edge[t] = edge[t * tokens] = kVirtualEdge;
  }
  for (std::size_t b = 0; b < graph.bond_atoms.size() / 2; ++b) {
    const auto i = static_cast<std::size_t>(graph.bond_atoms[2 * b]) + 1;
    const auto j = static_cast<std::size_t>(graph.bond_atoms[2 * b + 1]) + 1;
    edge[i * tokens + j] = edge[j * tokens + i] = bond_id(graph.features, &graph.bonds[3 * b]);
  }
  const std::vector<int> distance = all_distances(graph);
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t j = 0; j < tokens; ++j) {
      const int expected = i == 0 || j == 0 ? kVirtual : distance[(i - 1) * n + j - 1];
      EXPECT_EQ(pairs.topology[i * tokens + j], expected) << i << "," << j;
      EXPECT_EQ(pairs.edge[i * tokens + j], edge[i * tokens + j]) << i << "," << j;
    }
  }
}

TEST(PairRelations, OneAtom) { expect_relations(graph_of(1, {})); }
TEST(PairRelations, Chain) { expect_relations(chain_of(6)); }
TEST(PairRelations, Cubane) { expect_relations(cubane()); }
TEST(PairRelations, FragmentsAreUnreachableFromEachOther) { expect_relations(graph_of(5, {{0, 3}, {1, 4}, {4, 2}})); }
TEST(PairRelations, AtomsWithoutBonds) { expect_relations(graph_of(3, {})); }

TEST(PairRelations, MoreThan255Atoms) {
  const MolecularGraph graph = chain_of(700);
  const PairRelations pairs = pair_relations(graph.view());
  EXPECT_EQ(pairs.topology[1 * 701 + 700], 699) << "a distance that exceeds 8 bits";
  EXPECT_EQ(pairs.topology[700 * 701 + 1], 699);
  EXPECT_EQ(pairs.topology[300 * 701 + 560], 260);
}

}  // namespace
}  // namespace molgraph
