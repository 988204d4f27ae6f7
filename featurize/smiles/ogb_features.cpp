#include <GraphMol/Atom.h>
#include <GraphMol/Bond.h>
#include <GraphMol/ROMol.h>
#include <GraphMol/RingInfo.h>

#include "featurize/smiles/rdkit_features.hpp"
#include "featurize/smiles/rdkit_values.hpp"

namespace molgraph {
namespace {

std::uint8_t chirality(const RDKit::Atom& atom) {
  switch (atom.getChiralTag()) {
    case RDKit::Atom::CHI_UNSPECIFIED: return 0;
    case RDKit::Atom::CHI_TETRAHEDRAL_CW: return 1;
    case RDKit::Atom::CHI_TETRAHEDRAL_CCW: return 2;
    case RDKit::Atom::CHI_OTHER: return 3;
    default: return 4;
  }
}

std::uint8_t bond_stereo(const RDKit::Bond& bond) {
  switch (bond.getStereo()) {
    case RDKit::Bond::STEREONONE: return 0;
    case RDKit::Bond::STEREOZ: return 1;
    case RDKit::Bond::STEREOE: return 2;
    case RDKit::Bond::STEREOCIS: return 3;
    case RDKit::Bond::STEREOTRANS: return 4;
    default: return 5;  // STEREOANY
  }
}

}  // namespace

MolecularGraph ogb_graph(const RDKit::ROMol& molecule) {
  MolecularGraph graph;
  graph.features = Features::ogb;
  graph.atoms.reserve(9u * molecule.getNumAtoms());
  const RDKit::RingInfo* rings = molecule.getRingInfo();
  for (const RDKit::Atom* atom : molecule.atoms()) {
    const std::uint8_t columns[9] = {
        in_range(atom->getAtomicNum(), 1, 118),
        chirality(*atom),
        in_range(static_cast<int>(atom->getTotalDegree()), 0, 10),
        in_range(atom->getFormalCharge(), -5, 5),
        in_range(static_cast<int>(atom->getTotalNumHs()), 0, 8),
        in_range(static_cast<int>(atom->getNumRadicalElectrons()), 0, 4),
        hybridisation(*atom),
        static_cast<std::uint8_t>(atom->getIsAromatic()),
        static_cast<std::uint8_t>(rings->numAtomRings(atom->getIdx()) > 0),
    };
    graph.atoms.insert(graph.atoms.end(), columns, columns + 9);
  }
  graph.bond_atoms.reserve(2u * molecule.getNumBonds());
  graph.bonds.reserve(3u * molecule.getNumBonds());
  for (const RDKit::Bond* bond : molecule.bonds()) {
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bond->getBeginAtomIdx()));
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bond->getEndAtomIdx()));
    graph.bonds.push_back(bond_type(*bond));
    graph.bonds.push_back(bond_stereo(*bond));
    graph.bonds.push_back(static_cast<std::uint8_t>(bond->getIsConjugated()));
  }
  return graph;
}

}  // namespace molgraph
