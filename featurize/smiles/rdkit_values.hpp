// RDKit's properties as column values that several feature sets share. Private to this folder.
#pragma once

#include <GraphMol/Atom.h>
#include <GraphMol/Bond.h>

#include <cstdint>

namespace molgraph {

/// Maps a value in [low, high] to value - low and any other value to the next index, OGB's "misc".
inline std::uint8_t in_range(int value, int low, int high) {
  return static_cast<std::uint8_t>(value >= low && value <= high ? value - low : high - low + 1);
}

inline std::uint8_t hybridisation(const RDKit::Atom& atom) {
  switch (atom.getHybridization()) {
    case RDKit::Atom::SP: return 0;
    case RDKit::Atom::SP2: return 1;
    case RDKit::Atom::SP3: return 2;
    case RDKit::Atom::SP3D: return 3;
    case RDKit::Atom::SP3D2: return 4;
    default: return 5;
  }
}

inline std::uint8_t bond_type(const RDKit::Bond& bond) {
  switch (bond.getBondType()) {
    case RDKit::Bond::SINGLE: return 0;
    case RDKit::Bond::DOUBLE: return 1;
    case RDKit::Bond::TRIPLE: return 2;
    case RDKit::Bond::AROMATIC: return 3;
    default: return 4;
  }
}

}  // namespace molgraph
