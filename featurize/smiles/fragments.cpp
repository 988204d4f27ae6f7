#include "featurize/smiles/fragments.hpp"

#include <GraphMol/ChemTransforms/MolFragmenter.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/molecule.hpp"
#include "featurize/smiles/parent.hpp"

namespace molgraph {
namespace {

constexpr const char* kFillsCut = "molgraphFillsCut";  // property of a hydrogen

enum class AtomPart : std::uint8_t { side_chain, linker, ring_system };

/// Sorts the atoms of a molecule into ring systems, linkers and side chains.
class MurckoParts {
 public:
  explicit MurckoParts(const RDKit::ROMol& molecule)
      : molecule_(molecule), parts_(molecule.getNumAtoms(), AtomPart::side_chain), group_(molecule.getNumAtoms()) {
    const RDKit::RingInfo& rings = *molecule.getRingInfo();
    for (const RDKit::Atom* atom : molecule.atoms())
      if (rings.numAtomRings(atom->getIdx()) > 0) parts_[atom->getIdx()] = AtomPart::ring_system;
    add_multiply_bonded(AtomPart::ring_system);
    mark_linkers();
    add_multiply_bonded(AtomPart::linker);
    std::iota(group_.begin(), group_.end(), 0u);
    for (const RDKit::Bond* bond : molecule.bonds())
      if (!is_cut(*bond)) join(bond->getBeginAtomIdx(), bond->getEndAtomIdx());
  }

  /// Fragment of each atom, in the order of their first atoms.
  std::vector<int> numbers() {
    std::vector<int> number(group_.size(), -1), of_atom;
    int count = 0;
    for (unsigned i = 0; i < group_.size(); ++i) {
      int& known = number[root(i)];
      if (known < 0) known = count++;
      of_atom.push_back(known);
    }
    return of_atom;
  }

 private:
  /// A single bond between opposite charges counts as multiple: it is one in another notation of N-oxides and the like.
  static bool is_single(const RDKit::Bond& bond) {
    return bond.getBondType() == RDKit::Bond::SINGLE &&
           bond.getBeginAtom()->getFormalCharge() * bond.getEndAtom()->getFormalCharge() >= 0;
  }
  bool in_ring(const RDKit::Bond& bond) const { return molecule_.getRingInfo()->numBondRings(bond.getIdx()) > 0; }

  /// True for single bonds between two parts and between two ring systems.
  bool is_cut(const RDKit::Bond& bond) const {
    if (in_ring(bond) || !is_single(bond)) return false;
    const AtomPart a = parts_[bond.getBeginAtomIdx()], b = parts_[bond.getEndAtomIdx()];
    return a != b || a == AtomPart::ring_system;
  }

  /// Adds atoms of side chains that have a multiple bond to an atom of `part`.
  void add_multiply_bonded(AtomPart part) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const RDKit::Bond* bond : molecule_.bonds()) {
        if (in_ring(*bond) || is_single(*bond)) continue;
        AtomPart &a = parts_[bond->getBeginAtomIdx()], &b = parts_[bond->getEndAtomIdx()];
        if ((a == part) == (b == part)) continue;
        AtomPart& other = a == part ? b : a;
        if (other != AtomPart::side_chain) continue;
        other = part;
        changed = true;
      }
    }
  }

  /// Linkers are what remains outside ring systems after atoms with at most one neighbour are removed again and again.
  void mark_linkers() {
    std::vector<unsigned> degree(parts_.size()), leaves;
    std::vector<bool> removed(parts_.size());
    const auto is_leaf = [&](unsigned i) { return parts_[i] == AtomPart::side_chain && !removed[i] && degree[i] <= 1; };
    for (const RDKit::Atom* atom : molecule_.atoms()) degree[atom->getIdx()] = atom->getDegree();
    for (unsigned i = 0; i < parts_.size(); ++i)
      if (is_leaf(i)) leaves.push_back(i);
    while (!leaves.empty()) {
      const unsigned leaf = leaves.back();
      leaves.pop_back();
      if (removed[leaf]) continue;
      removed[leaf] = true;
      for (const RDKit::Atom* next : molecule_.atomNeighbors(molecule_.getAtomWithIdx(leaf))) {
        --degree[next->getIdx()];
        if (is_leaf(next->getIdx())) leaves.push_back(next->getIdx());
      }
    }
    for (unsigned i = 0; i < parts_.size(); ++i)
      if (parts_[i] == AtomPart::side_chain && !removed[i]) parts_[i] = AtomPart::linker;
  }

  unsigned root(unsigned i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  }
  void join(unsigned a, unsigned b) { group_[root(a)] = root(b); }

  const RDKit::ROMol& molecule_;
  std::vector<AtomPart> parts_;
  std::vector<unsigned> group_;  ///< union-find: the parent of each atom
};

/// Removes the hydrogens that fill cut bonds, and keeps hydrogens that were atoms before.
void remove_filling_hydrogens(RDKit::RWMol& molecule) {
  constexpr const char* kWasAtom = "molgraphWasAtom";
  for (RDKit::Atom* atom : molecule.atoms()) {
    if (atom->getAtomicNum() != 1 || atom->hasProp(kFillsCut) || atom->getAtomMapNum() != 0) continue;
    atom->setAtomMapNum(1);  // removeMapped
    atom->setProp(kWasAtom, 1);
  }
  RDKit::MolOps::RemoveHsParameters parameters;
  parameters.removeDefiningBondStereo = parameters.removeDummyNeighbors = parameters.removeOnlyHNeighbors = true;
  parameters.removeMapped = parameters.showWarnings = false;
  RDKit::MolOps::removeHs(molecule, parameters);
  for (RDKit::Atom* atom : molecule.atoms())
    if (atom->hasProp(kWasAtom)) atom->setAtomMapNum(0);
}

/// The molecule without the atoms of one fragment. RDKit's dummy atoms take the place of the neighbours at the cuts, so
/// chirality is preserved; those at the remaining atoms become hydrogens.
std::string without_fragment(const RDKit::ROMol& molecule, const std::vector<int>& of_atom, int fragment) {
  std::vector<unsigned> cuts;
  for (const RDKit::Bond* bond : molecule.bonds())
    if ((of_atom[bond->getBeginAtomIdx()] == fragment) != (of_atom[bond->getEndAtomIdx()] == fragment))
      cuts.push_back(bond->getIdx());
  const std::unique_ptr<RDKit::ROMol> cut(cuts.empty() ? new RDKit::ROMol(molecule)
                                                       : RDKit::MolFragmenter::fragmentOnBonds(molecule, cuts));
  RDKit::RWMol rest(*cut);
  const auto is_inside = [&](unsigned i) { return i < of_atom.size() && of_atom[i] == fragment; };
  rest.beginBatchEdit();
  for (RDKit::Atom* atom : rest.atoms()) {
    const bool is_dummy = atom->getIdx() >= of_atom.size();
    auto neighbours = rest.atomNeighbors(atom);
    if (is_inside(atom->getIdx()) || (is_dummy && is_inside((*neighbours.begin())->getIdx()))) {
      rest.removeAtom(atom);
    } else if (is_dummy) {
      atom->setAtomicNum(1);
      atom->setIsotope(0);
      atom->setNoImplicit(true);
      atom->setProp(kFillsCut, 1);
    }
  }
  rest.commitBatchEdit();
  if (rest.getNumAtoms() == 0) return {};
  RDKit::MolOps::sanitizeMol(rest);
  remove_filling_hydrogens(rest);
  RDKit::MolOps::assignStereochemistry(rest, true, true);  // without marks that referred to a removed atom
  return RDKit::MolToSmiles(rest);
}

}  // namespace

MoleculeFragments murcko_fragments(std::string_view text, bool is_mol_block, const FeaturizerOptions& featurizer) {
  const ParsedMolecule parsed = standardised_molecule(text, is_mol_block, featurizer);
  std::string failure = parsed.reason;
  MoleculeFragments fragments;
  if (failure.empty())
    failure = reason_of_failure([&] {
      const RDKit::RWMol& molecule = *parsed.molecule;
      if (!molecule.getRingInfo()->isInitialized()) RDKit::MolOps::fastFindRings(molecule);
      fragments.of_atom = MurckoParts(molecule).numbers();
      const int count = fragments.of_atom.empty() ? 0 : *std::ranges::max_element(fragments.of_atom) + 1;
      fragments.without.resize(static_cast<std::size_t>(count));
      for (int f = 0; f < count; ++f)
        (void)reason_of_failure(
            [&] { fragments.without[static_cast<std::size_t>(f)] = without_fragment(molecule, fragments.of_atom, f); });
    });
  if (!failure.empty()) throw DataError("", 0, "has no fragments: " + failure, std::string(text));
  return fragments;
}

}  // namespace molgraph
