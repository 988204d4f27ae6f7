#include "featurize/descriptors/work.hpp"

#include <GraphMol/GraphMol.h>

namespace molgraph::descriptors {

void Work::assign(const RDKit::ROMol& molecule_of_rdkit) {
  rdkit = &molecule_of_rdkit;
  molecule.assign(molecule_of_rdkit);
  loses_hydrogens = false;
  parts.atoms.clear();
  for (const RDKit::Atom* atom : molecule_of_rdkit.atoms()) parts.atoms.push_back(atom);
  parts.bonds.resize(molecule.bonds.size());
  for (const RDKit::Bond* bond : molecule_of_rdkit.bonds()) parts.bonds[bond->getIdx()] = bond;
}

}  // namespace molgraph::descriptors
