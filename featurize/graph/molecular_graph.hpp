// A molecule as the models see it: atoms, bonds and their categorical columns. Does not need a chemistry toolkit.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// Non-owning view of a molecule's graph; valid while the owner lives.
struct GraphView {
  Features features = Features::ogb;
  int num_atoms = 0;
  int num_bonds = 0;
  const std::uint8_t* atoms = nullptr;        ///< [num_atoms, atom_columns]
  const std::uint16_t* bond_atoms = nullptr;  ///< [num_bonds, 2], 0-based atom indices, each undirected bond once
  const std::uint8_t* bonds = nullptr;        ///< [num_bonds, bond_columns]
  int num_inputs = 0;
  const float* inputs = nullptr;  ///< [num_inputs] unscaled molecule-level inputs of the head, NaN = missing
};

/// Owning form of GraphView.
struct MolecularGraph {
  Features features = Features::ogb;
  std::vector<std::uint8_t> atoms;        ///< [n, atom_columns]
  std::vector<std::uint16_t> bond_atoms;  ///< [m, 2]
  std::vector<std::uint8_t> bonds;        ///< [m, bond_columns]
  std::vector<float> descriptors;         ///< of FeaturizerOptions::descriptors, NaN = undefined; empty = not requested
  std::vector<std::uint8_t> fingerprint;  ///< [kFingerprintBins] of FeaturizerExtras; empty = not requested

  int num_atoms() const { return static_cast<int>(atoms.size()) / feature_shape(features).atom_columns; }
  int num_bonds() const { return static_cast<int>(bond_atoms.size() / 2); }
  GraphView view() const { return {features, num_atoms(), num_bonds(), atoms.data(), bond_atoms.data(), bonds.data()}; }
};

}  // namespace molgraph
