// Properties of a molecule as flat arrays, read from RDKit once for all descriptors. Private to this folder.
#pragma once

#include <GraphMol/ROMol.h>

#include <cstdint>
#include <vector>

namespace molgraph::descriptors {

/// Values of an element from RDKit's periodic table; atomic number 0 is a dummy atom.
struct Element {
  int outer_electrons = 0;
  double radius = 0;        ///< covalent, angstrom ("Rb0")
  double weight = 0;        ///< average mass, Da
  double isotope_mass = 0;  ///< of the most common isotope, Da
};
constexpr int kElements = 119;
/// Returns the table [kElements], read from RDKit once.
const Element* elements();

/// RDKit's numbers of the bond types that descriptors distinguish.
enum : std::uint8_t { kSingle = 1, kDouble = 2, kTriple = 3, kQuadruple = 4, kAromatic = 12, kDative = 17 };

struct AtomFacts {
  std::uint8_t number = 0;  ///< atomic number
  bool aromatic = false;
  std::int8_t charge = 0;          ///< formal charge
  std::uint8_t hydrogens = 0;      ///< hydrogens that are not atoms of the graph
  std::uint8_t all_hydrogens = 0;  ///< including those that are atoms of the graph
  std::uint8_t degree = 0;         ///< neighbours in the graph
  std::uint8_t valence = 0;        ///< explicit and implicit
  std::uint8_t hybridisation = 0;  ///< RDKit's number
  std::uint8_t radicals = 0;       ///< unpaired electrons
  std::uint16_t rings = 0;         ///< of RDKit's ring set
  std::uint8_t cyclic_bonds = 0;   ///< bonds on any cycle
  std::uint16_t isotope = 0;       ///< mass number, 0 = natural
  int total_degree() const { return degree + hydrogens; }
};

struct BondFacts {
  std::uint16_t begin = 0, end = 0;
  std::uint8_t type = 0;  ///< RDKit's number
  bool aromatic = false, conjugated = false;
  bool ring = false;    ///< in RDKit's ring set
  bool cyclic = false;  ///< on any cycle: like `ring`, plus what RDKit's ring search leaves out
};

/// An arc of the graph: the neighbour and the bond to it.
struct Arc {
  std::uint16_t atom, bond;
};

struct CompactMolecule {
  std::vector<AtomFacts> atoms;      ///< [n], in RDKit's order
  std::vector<double> mass;          ///< [n] Da, of the isotope if one is given
  std::vector<BondFacts> bonds;      ///< [m]
  std::vector<std::uint32_t> first;  ///< [n + 1] into arcs
  std::vector<Arc> arcs;             ///< [2 m], grouped by atom
  int heavy_atoms = 0;               ///< atomic number above 1
  bool has_hydrogen_atoms = false;
  int cycles = 0;  ///< independent cycles: bonds - atoms + fragments

  /// Reads a sanitised molecule with ring information. Throws RDKit's exceptions for any other.
  void assign(const RDKit::ROMol& molecule);
  /// Fills the arcs and the degrees from the bonds.
  void connect();
  /// Fills the cycle fields from the arcs.
  void find_cycles();
  std::size_t size() const { return atoms.size(); }
  const Arc* begin(std::size_t atom) const { return arcs.data() + first[atom]; }
  const Arc* end(std::size_t atom) const { return arcs.data() + first[atom + 1]; }
};

}  // namespace molgraph::descriptors
