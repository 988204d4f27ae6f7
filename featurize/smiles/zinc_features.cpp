#include "featurize/smiles/zinc_features.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>

#include <algorithm>
#include <array>
#include <memory>

#include "featurize/smiles/molecule.hpp"
#include "featurize/smiles/rdkit_features.hpp"

namespace molgraph {
namespace {

/// Symbol, explicit hydrogens and sign of charge in the Kekule form; the position is the type. Published order of
/// benchmarking-gnns (Dwivedi et al. 2020): by first appearance in its test, validation and training molecules.
constexpr std::array<std::string_view, 28> kAtomTypes = {
    "C",      "O",      "N",    "F",      "C H1", "S",      "Cl",     "O -",    "N H1 +", "Br",
    "N H3 +", "N H2 +", "N +",  "N -",    "S -",  "I",      "P",      "O H1 +", "N H1 -", "O +",
    "S +",    "P H1",   "P H2", "C H2 -", "P +",  "S H1 +", "C H1 -", "P H1 +"};

/// Atom type as written in the Kekule SMILES, because the published graphs were made from this text, read back without
/// sanitising. Hydrogens count only if the atom is written in brackets.
std::string type_name(const RDKit::Atom& atom) {
  std::string name = atom.getSymbol();
  const bool brackets = RDKit::SmilesWrite::GetAtomSmiles(&atom, true).front() == '[';
  if (brackets && atom.getTotalNumHs() > 0) name += " H" + std::to_string(atom.getTotalNumHs());
  if (atom.getFormalCharge() > 0) name += " +";
  if (atom.getFormalCharge() < 0) name += " -";
  return name;
}

/// Clears aromatic flags, because RDKit writes every sixth molecule in a different order with them.
void to_kekule(RDKit::RWMol& molecule) { RDKit::MolOps::Kekulize(molecule, true); }

/// Returns the Kekule SMILES of the molecule. `order` [n] receives the atoms as written.
std::string write_kekule(const RDKit::ROMol& molecule, std::vector<int>& order) {
  RDKit::RWMol kekule(molecule);
  to_kekule(kekule);
  RDKit::SmilesWriteParams params;
  params.doKekule = true;
  std::string smiles = RDKit::MolToSmiles(kekule, params);
  std::vector<unsigned int> written;
  kekule.getProp(RDKit::common_properties::_smilesAtomOutputOrder, written);
  order.assign(written.begin(), written.end());
  return smiles;
}

std::uint8_t zinc_bond(const RDKit::Bond& bond) {
  switch (bond.getBondType()) {
    case RDKit::Bond::SINGLE: return 1;
    case RDKit::Bond::DOUBLE: return 2;
    case RDKit::Bond::TRIPLE: return 3;
    default: return 0;
  }
}

}  // namespace

std::variant<MolecularGraph, std::string> zinc_graph(RDKit::RWMol& molecule) {
  to_kekule(molecule);
  MolecularGraph graph;
  graph.features = Features::zinc;
  for (const RDKit::Atom* atom : molecule.atoms()) {
    const std::string name = type_name(*atom);
    const auto* type = std::find(kAtomTypes.begin(), kAtomTypes.end(), name);
    if (type == kAtomTypes.end()) return "atom type '" + name + "' is not one of the 28 zinc types";
    graph.atoms.push_back(static_cast<std::uint8_t>(type - kAtomTypes.begin()));
  }
  for (const RDKit::Bond* bond : molecule.bonds()) {
    const std::uint8_t type = zinc_bond(*bond);
    if (type == 0) return "a bond is neither single, double nor triple";
    graph.bonds.push_back(type);
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bond->getBeginAtomIdx()));
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bond->getEndAtomIdx()));
  }
  return graph;
}

WrittenOrder zinc_written_order(std::string_view smiles) {
  const auto molecule = molecule_or_throw(smiles);
  WrittenOrder written;
  written.kekule_smiles = write_kekule(*molecule, written.atom);
  return written;
}

}  // namespace molgraph
