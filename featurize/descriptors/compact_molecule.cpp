#include "featurize/descriptors/compact_molecule.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/PeriodicTable.h>

#include <array>

namespace molgraph::descriptors {

const Element* elements() {
  static const std::array<Element, kElements> table = [] {
    std::array<Element, kElements> filled{};
    const RDKit::PeriodicTable& rdkit = *RDKit::PeriodicTable::getTable();
    for (unsigned int z = 0; z < kElements; ++z) {
      filled[z] = {rdkit.getNouterElecs(z), rdkit.getRb0(z), rdkit.getAtomicWeight(z),
                   z == 0 ? 0.0 : rdkit.getMostCommonIsotopeMass(z)};
    }
    return filled;
  }();
  return table.data();
}

void CompactMolecule::assign(const RDKit::ROMol& molecule) {
  const RDKit::RingInfo& rings = *molecule.getRingInfo();
  const std::size_t n = molecule.getNumAtoms(), m = molecule.getNumBonds();
  atoms.assign(n, {});
  mass.resize(n);
  bonds.resize(m);
  heavy_atoms = 0;
  has_hydrogen_atoms = false;
  for (std::size_t i = 0; i < n; ++i) {
    const RDKit::Atom& atom = *molecule.getAtomWithIdx(static_cast<unsigned int>(i));
    AtomFacts& facts = atoms[i];
    facts.number = static_cast<std::uint8_t>(atom.getAtomicNum());
    facts.aromatic = atom.getIsAromatic();
    facts.charge = static_cast<std::int8_t>(atom.getFormalCharge());
    facts.hydrogens = static_cast<std::uint8_t>(atom.getTotalNumHs());
    facts.all_hydrogens = facts.hydrogens;
    facts.valence = static_cast<std::uint8_t>(atom.getTotalValence());
    facts.hybridisation = static_cast<std::uint8_t>(atom.getHybridization());
    facts.radicals = static_cast<std::uint8_t>(atom.getNumRadicalElectrons());
    facts.rings = static_cast<std::uint16_t>(rings.numAtomRings(static_cast<unsigned int>(i)));
    facts.isotope = static_cast<std::uint16_t>(atom.getIsotope());
    mass[i] = facts.isotope == 0 ? elements()[facts.number].weight : atom.getMass();
    heavy_atoms += facts.number > 1;
    has_hydrogen_atoms |= facts.number == 1;
  }
  for (const RDKit::Bond* bond : molecule.bonds()) {  // getBondWithIdx() would iterate over all bonds before it
    const unsigned int b = bond->getIdx();
    bonds[b] = {static_cast<std::uint16_t>(bond->getBeginAtomIdx()),
                static_cast<std::uint16_t>(bond->getEndAtomIdx()),
                static_cast<std::uint8_t>(bond->getBondType()),
                bond->getIsAromatic(),
                bond->getIsConjugated(),
                rings.numBondRings(b) != 0,
                false};
  }
  connect();
  find_cycles();
  for (std::size_t i = 0; i < n; ++i)
    for (const Arc* arc = begin(i); arc != end(i); ++arc) atoms[i].all_hydrogens += atoms[arc->atom].number == 1;
}

void CompactMolecule::connect() {
  const std::size_t n = atoms.size(), m = bonds.size();
  arcs.resize(2 * m);
  first.assign(n + 2, 0);
  for (const BondFacts& bond : bonds) {
    ++first[bond.begin + 2u];
    ++first[bond.end + 2u];
  }
  for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
  // first[i + 1] is now the fill position of atom i and ends as the start of atom i + 1.
  for (std::size_t b = 0; b < m; ++b) {
    const std::uint16_t u = bonds[b].begin, v = bonds[b].end;
    arcs[first[u + 1u]++] = {v, static_cast<std::uint16_t>(b)};
    arcs[first[v + 1u]++] = {u, static_cast<std::uint16_t>(b)};
  }
  first.pop_back();
  for (std::size_t i = 0; i < n; ++i) atoms[i].degree = static_cast<std::uint8_t>(first[i + 1] - first[i]);
}

void CompactMolecule::find_cycles() {
  constexpr std::uint16_t none = 0xFFFF;
  thread_local std::vector<std::uint16_t> parent_bond, depth, queue;
  parent_bond.assign(atoms.size(), none);
  depth.assign(atoms.size(), none);
  queue.clear();
  for (std::size_t root = 0; root < atoms.size(); ++root) {  // breadth-first search per fragment
    if (depth[root] != none) continue;
    depth[root] = 0;
    queue.push_back(static_cast<std::uint16_t>(root));
    for (std::size_t next = queue.size() - 1; next < queue.size(); ++next) {
      const std::uint16_t atom = queue[next];
      for (const Arc* arc = begin(atom); arc != end(atom); ++arc) {
        if (depth[arc->atom] != none) continue;
        depth[arc->atom] = static_cast<std::uint16_t>(depth[atom] + 1);
        parent_bond[arc->atom] = arc->bond;
        queue.push_back(arc->atom);
      }
    }
  }
  cycles = 0;
  for (std::size_t b = 0; b < bonds.size(); ++b) {
    std::uint16_t ends[] = {bonds[b].begin, bonds[b].end};
    if (parent_bond[ends[0]] == b || parent_bond[ends[1]] == b) continue;
    ++cycles;
    bonds[b].cyclic = true;
    while (ends[0] != ends[1]) {  // up the tree from both ends until they meet
      std::uint16_t& lower = ends[depth[ends[0]] < depth[ends[1]]];
      BondFacts& up = bonds[parent_bond[lower]];
      up.cyclic = true;
      lower = up.begin == lower ? up.end : up.begin;
    }
  }
  for (const BondFacts& bond : bonds) {
    atoms[bond.begin].cyclic_bonds += bond.cyclic;
    atoms[bond.end].cyclic_bonds += bond.cyclic;
  }
}

}  // namespace molgraph::descriptors
