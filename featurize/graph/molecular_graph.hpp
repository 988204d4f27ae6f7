// A molecule as the models see it: atoms, bonds and their categorical columns. Does not need a chemistry toolkit.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// Non-owning view of a list of whole numbers >= 0 that take 1, 2 or 4 bytes each.
struct NumberView {
  const void* data = nullptr;
  std::size_t width = 1;  ///< bytes of a number

  int operator[](std::integral auto index) const {
    const auto i = static_cast<std::size_t>(index);
    if (width == 1) return static_cast<const std::uint8_t*>(data)[i];
    if (width == 2) return static_cast<const std::uint16_t*>(data)[i];
    return static_cast<int>(static_cast<const std::uint32_t*>(data)[i]);
  }
};

/// Non-owning view of rows of bytes: view[row][column].
struct RowView {
  const std::uint8_t* rows = nullptr;  ///< the rows, or the distinct rows
  std::size_t columns = 0;
  NumberView code{};  ///< place of each row among the distinct rows; without data, `rows` contains all rows in order

  const std::uint8_t* operator[](std::integral auto index) const {
    const auto i = static_cast<std::size_t>(index);
    return rows + columns * (code.data == nullptr ? i : static_cast<std::size_t>(code[i]));
  }
};

/// Non-owning view of the atoms of bonds: view[2 * bond] and view[2 * bond + 1].
struct BondAtomsView {
  RowView ends;  ///< [bonds][4 bytes], two numbers of 16 bits

  int operator[](std::integral auto index) const {
    const auto i = static_cast<std::size_t>(index);
    std::uint16_t atom = 0;
    std::memcpy(&atom, ends[i / 2] + i % 2 * sizeof(atom), sizeof(atom));
    return atom;
  }
};

/// Non-owning view of a molecule's graph; valid while the owner lives.
struct GraphView {
  Features features = Features::ogb;
  int num_atoms = 0;
  int num_bonds = 0;
  RowView atoms;             ///< [num_atoms][atom_columns]
  BondAtomsView bond_atoms;  ///< [2 num_bonds], 0-based atom indices, each undirected bond once
  RowView bonds;             ///< [num_bonds][bond_columns]
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
  GraphView view() const;
  /// Returns a copy of atoms and bonds, without inputs.
  static MolecularGraph copy_of(const GraphView& view);
};

}  // namespace molgraph
