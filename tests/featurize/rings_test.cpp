// Compares the ring search with an exhaustive enumeration of rings.
#include "featurize/smiles/rings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace molgraph {
namespace {

struct Graph {
  int atoms = 0;
  std::vector<std::uint16_t> bonds;  ///< [m, 2]
  int bond_between(int i, int j) const {
    for (std::size_t b = 0; b < bonds.size(); b += 2)
      if ((bonds[b] == i && bonds[b + 1] == j) || (bonds[b] == j && bonds[b + 1] == i)) return static_cast<int>(b / 2);
    return -1;
  }
};

/// Calls `found` with the atoms of every ring, in both directions and from each of its atoms as the start.
void for_each_ring(const Graph& graph, const std::function<void(const std::vector<int>&)>& found) {
  std::vector<int> path;
  const std::function<void(int)> go = [&](int at) {
    path.push_back(at);
    for (int next = 0; next < graph.atoms; ++next) {
      if (graph.bond_between(at, next) < 0) continue;
      if (next == path.front() && path.size() > 2) found(path);
      if (std::find(path.begin(), path.end(), next) == path.end()) go(next);
    }
    path.pop_back();
  };
  for (int start = 0; start < graph.atoms; ++start) go(start);
}

Graph random_graph(std::mt19937& random) {
  Graph graph;
  graph.atoms = 1 + static_cast<int>(random() % 9);
  for (int i = 0; i < graph.atoms; ++i)
    for (int j = i + 1; j < graph.atoms; ++j)
      if (random() % 100 < 32)
        graph.bonds.insert(graph.bonds.end(), {static_cast<std::uint16_t>(j), static_cast<std::uint16_t>(i)});
  return graph;
}

TEST(Rings, MatchExhaustiveEnumeration) {
  std::mt19937 random(3);
  int with_rings = 0;
  for (int round = 0; round < 300; ++round) {
    const Graph graph = random_graph(random);
    const Rings rings(graph.atoms, graph.bonds);
    const auto n = static_cast<std::size_t>(graph.atoms);
    std::vector<int> of_atom(n, 0), of_bond(graph.bonds.size() / 2, 0);
    std::vector<int> through(n * n * n, 0);
    const auto keep_smallest = [](int& smallest, std::size_t size) {
      smallest = smallest == 0 ? static_cast<int>(size) : std::min(smallest, static_cast<int>(size));
    };
    for_each_ring(graph, [&](const std::vector<int>& ring) {
      keep_smallest(of_atom[static_cast<std::size_t>(ring[0])], ring.size());
      keep_smallest(of_bond[static_cast<std::size_t>(graph.bond_between(ring[0], ring[1]))], ring.size());
      keep_smallest(through[(static_cast<std::size_t>(ring.back()) * n + static_cast<std::size_t>(ring[0])) * n +
                            static_cast<std::size_t>(ring[1])],
                    ring.size());
    });
    for (int max_size : {3, 5, 12}) {
      const auto capped = [&](int size) { return size <= max_size ? size : 0; };
      for (int a = 0; a < graph.atoms; ++a) {
        EXPECT_EQ(rings.smallest_of_atom(a, max_size), capped(of_atom[static_cast<std::size_t>(a)]));
        for (int left = 0; left < graph.atoms; ++left)
          for (int right = 0; right < graph.atoms; ++right)
            if (left != right && graph.bond_between(left, a) >= 0 && graph.bond_between(a, right) >= 0) {
              EXPECT_EQ(rings.smallest_through(left, a, right, max_size),
                        capped(through[(static_cast<std::size_t>(left) * n + static_cast<std::size_t>(a)) * n +
                                       static_cast<std::size_t>(right)]));
            }
      }
      for (std::size_t b = 0; b < of_bond.size(); ++b)
        EXPECT_EQ(rings.smallest_of_bond(static_cast<int>(b), max_size), capped(of_bond[b]));
    }
    for (int a = 0; a < graph.atoms; ++a) EXPECT_EQ(rings.atom(a), of_atom[static_cast<std::size_t>(a)] > 0);
    for (std::size_t b = 0; b < of_bond.size(); ++b) EXPECT_EQ(rings.bond(static_cast<int>(b)), of_bond[b] > 0);
    with_rings += std::any_of(of_atom.begin(), of_atom.end(), [](int size) { return size > 0; });
  }
  EXPECT_GT(with_rings, 100);
}

TEST(Rings, SystemsAreConnectedByRingBonds) {
  // Two triangles that share atom 2, and a third triangle connected by a single bond.
  const Rings rings(8, std::vector<std::uint16_t>{0, 1, 1, 2, 2, 0, 2, 3, 3, 4, 4, 2, 4, 5, 5, 6, 6, 7, 7, 5});
  EXPECT_EQ(rings.system(0), rings.system(4));
  EXPECT_NE(rings.system(0), rings.system(5));
  EXPECT_FALSE(rings.bond(6));
}

}  // namespace
}  // namespace molgraph
