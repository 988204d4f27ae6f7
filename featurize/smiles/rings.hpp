// Exact ring membership of atoms and bonds. In contrast to sets of smallest rings, it does not depend on the numbering
// of the atoms. Private to this folder; does not use RDKit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

/// The rings of one graph. A size above kLargestRing is treated as "no ring".
class Rings {
 public:
  static constexpr int kLargestRing = 12;

  /// `bond_atoms` [m, 2]. No bond may join an atom to itself, and no two bonds may join the same atoms.
  Rings(int atoms, std::span<const std::uint16_t> bond_atoms);

  bool atom(int atom) const { return system_[static_cast<std::size_t>(atom)] >= 0; }
  bool bond(int bond) const { return ring_bond_[static_cast<std::size_t>(bond)] != 0; }
  /// Number of the atom's ring system (atoms connected by ring bonds), -1 for an atom outside rings.
  int system(int atom) const { return system_[static_cast<std::size_t>(atom)]; }

  /// Size of the smallest ring through the atom, 0 if it is larger than `limit` or there is none.
  int smallest_of_atom(int atom, int limit) const;
  /// The same for a bond.
  int smallest_of_bond(int bond, int limit) const;
  /// The same for the two bonds that join `atom` to its neighbours `left` and `right`.
  int smallest_through(int left, int atom, int right, int limit) const;

 private:
  struct Step {
    int atom, bond;
  };
  std::span<const Step> steps(int atom) const {
    const auto a = static_cast<std::size_t>(atom);
    return {steps_.data() + first_[a], steps_.data() + first_[a + 1]};
  }
  void find_ring_bonds();
  void find_systems();
  /// Length in bonds of the shortest path over ring bonds that avoids one atom or bond (-1 = none is avoided), 0 if
  /// above `limit`.
  int distance(int from, int to, int without_atom, int without_bond, int limit) const;

  std::vector<std::uint16_t> bond_atoms_;
  std::vector<std::size_t> first_;  ///< [atoms + 1] into steps_
  std::vector<Step> steps_;         ///< first all bonds, then only those in rings
  std::vector<char> ring_bond_;
  std::vector<int> system_;
  mutable std::vector<int> depth_, branch_, queue_;  ///< of a search; depth_ is -1 everywhere between searches
};

}  // namespace molgraph
