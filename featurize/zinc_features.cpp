#include "featurize/zinc_features.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>

#include <algorithm>
#include <array>
#include <memory>

#include "featurize/molecule.hpp"
#include "featurize/rdkit_features.hpp"

namespace molgraph {
namespace {

/// Symbol, explicit hydrogens and sign of charge of the Kekule form; the position is the type. Published order of
/// benchmarking-gnns (Dwivedi et al. 2020): by first appearance over its test, validation and training molecules.
constexpr std::array<std::string_view, 28> kAtomTypes = {
    "C",      "O",   "N",   "F", "C H1", "S",      "Cl",     "O -", "N H1 +", "Br",   "N H3 +", "N H2 +", "N +", "N -",
    "S -",    "I",   "P",   "O H1 +", "N H1 -", "O +", "S +", "P H1", "P H2",  "C H2 -", "P +", "S H1 +", "C H1 -",
    "P H1 +"};

std::string type_name(const RDKit::Atom& atom) {
  std::string name = atom.getSymbol();
  if (atom.getNumExplicitHs() > 0) name += " H" + std::to_string(atom.getNumExplicitHs());
  if (atom.getFormalCharge() > 0) name += " +";
  if (atom.getFormalCharge() < 0) name += " -";
  return name;
}

/// Kekule SMILES of the molecule; `order` [n] receives the atoms as written.
std::string write_kekule(const RDKit::ROMol& molecule, std::vector<int>& order) {
  RDKit::RWMol kekule(molecule);
  // Aromatic flags are cleared before ranking: with them RDKit writes every sixth molecule in another order.
  RDKit::MolOps::Kekulize(kekule, true);
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

std::variant<MolecularGraph, std::string> zinc_graph(const RDKit::ROMol& molecule) {
  std::vector<int> order;
  const std::string smiles = write_kekule(molecule, order);
  RDKit::SmilesParserParams raw;
  raw.sanitize = false;
  raw.removeHs = false;
  raw.allowCXSMILES = false;
  const std::unique_ptr<RDKit::RWMol> written(RDKit::SmilesToMol(smiles, raw));
  if (!written || written->getNumAtoms() != molecule.getNumAtoms() || order.size() != molecule.getNumAtoms() ||
      written->getNumBonds() != molecule.getNumBonds()) {
    return "its Kekule form cannot be read back";
  }

  MolecularGraph graph;
  graph.features = Features::zinc;
  graph.atoms.resize(molecule.getNumAtoms());
  for (const RDKit::Atom* atom : written->atoms()) {
    const std::string name = type_name(*atom);
    const auto* type = std::find(kAtomTypes.begin(), kAtomTypes.end(), name);
    if (type == kAtomTypes.end()) return "atom type '" + name + "' is not one of the 28 zinc types";
    graph.atoms[static_cast<std::size_t>(order[atom->getIdx()])] = static_cast<std::uint8_t>(type - kAtomTypes.begin());
  }
  // Types by position in the molecule's own list of bonds, so that both feature sets list bonds alike.
  graph.bonds.resize(molecule.getNumBonds());
  for (const RDKit::Bond* bond : written->bonds()) {
    const RDKit::Bond* own = molecule.getBondBetweenAtoms(static_cast<unsigned>(order[bond->getBeginAtomIdx()]),
                                                          static_cast<unsigned>(order[bond->getEndAtomIdx()]));
    if (own == nullptr) return "its Kekule form cannot be read back";
    const std::uint8_t type = zinc_bond(*bond);
    if (type == 0) return "a bond is neither single, double nor triple";
    graph.bonds[own->getIdx()] = type;
  }
  for (const RDKit::Bond* bond : molecule.bonds()) {
    graph.bond_atoms.push_back(static_cast<std::int32_t>(bond->getBeginAtomIdx()));
    graph.bond_atoms.push_back(static_cast<std::int32_t>(bond->getEndAtomIdx()));
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
