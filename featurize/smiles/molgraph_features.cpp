#include <GraphMol/Atom.h>
#include <GraphMol/Bond.h>
#include <GraphMol/ROMol.h>

#include "featurize/smiles/rdkit_features.hpp"
#include "featurize/smiles/rdkit_values.hpp"
#include "featurize/smiles/rings.hpp"
#include "featurize/smiles/stereo.hpp"

namespace molgraph {
namespace {

/// Values of the smallest-ring column: 0 none, 1..6 for rings of 3 to 8 atoms, 7 larger.
constexpr int kLargestNamedRing = 8;

std::uint8_t ring_size(const Rings& rings, int atom) {
  if (!rings.atom(atom)) return 0;
  const int size = rings.smallest_of_atom(atom, kLargestNamedRing);
  return static_cast<std::uint8_t>(size == 0 ? kLargestNamedRing - 1 : size - 2);
}

}  // namespace

MolecularGraph molgraph_graph(RDKit::RWMol& molecule) {
  MolecularGraph graph;
  graph.features = Features::molgraph;
  graph.bond_atoms.reserve(2u * molecule.getNumBonds());
  for (const RDKit::Bond* bond : molecule.bonds()) {
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bond->getBeginAtomIdx()));
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bond->getEndAtomIdx()));
  }
  const Rings rings(static_cast<int>(molecule.getNumAtoms()), graph.bond_atoms);
  const StereoLabels labels = stereo_labels(molecule, rings);
  graph.atoms.reserve(10u * molecule.getNumAtoms());
  for (const RDKit::Atom* atom : molecule.atoms()) {
    const int index = static_cast<int>(atom->getIdx());
    const std::uint8_t columns[10] = {
        in_range(atom->getAtomicNum(), 1, 118),
        in_range(static_cast<int>(atom->getTotalDegree()), 0, 10),
        in_range(static_cast<int>(atom->getTotalNumHs()), 0, 8),
        in_range(atom->getFormalCharge(), -5, 5),
        in_range(static_cast<int>(atom->getNumRadicalElectrons()), 0, 4),
        hybridisation(*atom),
        static_cast<std::uint8_t>(atom->getIsAromatic()),
        static_cast<std::uint8_t>(rings.atom(index)),
        ring_size(rings, index),
        static_cast<std::uint8_t>(labels.atom[atom->getIdx()]),
    };
    graph.atoms.insert(graph.atoms.end(), columns, columns + 10);
  }
  graph.bonds.reserve(4u * molecule.getNumBonds());
  for (const RDKit::Bond* bond : molecule.bonds()) {
    graph.bonds.push_back(bond_type(*bond));
    graph.bonds.push_back(static_cast<std::uint8_t>(labels.bond[bond->getIdx()]));
    graph.bonds.push_back(static_cast<std::uint8_t>(bond->getIsConjugated()));
    graph.bonds.push_back(static_cast<std::uint8_t>(rings.bond(static_cast<int>(bond->getIdx()))));
  }
  return graph;
}

}  // namespace molgraph
