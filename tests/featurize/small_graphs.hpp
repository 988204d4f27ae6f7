// Hand-made graphs for tests without a chemistry toolkit.
#pragma once

#include <utility>
#include <vector>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph::test {

/// `ogb` features: atom a has the value a mod 119 in column 0 and 0 in the others. Bond b has type b mod 5, stereo b
/// mod 6 and conjugation b mod 2, so that neighbouring bonds have different ids.
inline MolecularGraph graph_of(int atoms, const std::vector<std::pair<int, int>>& bonds) {
  MolecularGraph graph;
  graph.atoms.assign(9u * static_cast<std::size_t>(atoms), 0);
  for (int a = 0; a < atoms; ++a) graph.atoms[9u * static_cast<std::size_t>(a)] = static_cast<std::uint8_t>(a % 119);
  for (std::size_t b = 0; b < bonds.size(); ++b) {
    graph.bond_atoms.push_back(bonds[b].first);
    graph.bond_atoms.push_back(bonds[b].second);
    graph.bonds.push_back(static_cast<std::uint8_t>(b % 5));
    graph.bonds.push_back(static_cast<std::uint8_t>(b % 6));
    graph.bonds.push_back(static_cast<std::uint8_t>(b % 2));
  }
  return graph;
}

inline MolecularGraph chain_of(int atoms) {
  std::vector<std::pair<int, int>> bonds;
  for (int a = 1; a < atoms; ++a) bonds.emplace_back(a - 1, a);
  return graph_of(atoms, bonds);
}

/// The eight corners of a cube. Corner c is bonded to the corners that differ from c in one bit.
inline MolecularGraph cubane() {
  std::vector<std::pair<int, int>> bonds;
  for (int c = 0; c < 8; ++c) {
    for (int bit = 1; bit < 8; bit *= 2) {
      if ((c & bit) == 0) bonds.emplace_back(c, c | bit);
    }
  }
  return graph_of(8, bonds);
}

inline MolecularGraph cyclobutane() { return graph_of(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}); }

/// Atom a becomes atom order[a]. The bonds are in reverse order, so that their order changes too.
inline MolecularGraph renumbered(const MolecularGraph& graph, const std::vector<int>& order) {
  MolecularGraph other;
  other.features = graph.features;
  const auto columns = static_cast<std::size_t>(feature_shape(graph.features).atom_columns);
  const auto bond_columns = static_cast<std::size_t>(feature_shape(graph.features).bond_columns);
  other.atoms.resize(graph.atoms.size());
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t c = 0; c < columns; ++c) {
      other.atoms[static_cast<std::size_t>(order[a]) * columns + c] = graph.atoms[a * columns + c];
    }
  }
  for (std::size_t b = graph.bond_atoms.size() / 2; b-- > 0;) {
    other.bond_atoms.push_back(order[static_cast<std::size_t>(graph.bond_atoms[2 * b])]);
    other.bond_atoms.push_back(order[static_cast<std::size_t>(graph.bond_atoms[2 * b + 1])]);
    for (std::size_t c = 0; c < bond_columns; ++c) other.bonds.push_back(graph.bonds[b * bond_columns + c]);
  }
  return other;
}

}  // namespace molgraph::test
