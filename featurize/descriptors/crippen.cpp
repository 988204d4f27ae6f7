#include "featurize/descriptors/crippen.hpp"

#include <GraphMol/Descriptors/Crippen.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>

namespace molgraph::descriptors {
namespace {

/// Atom indices of hydrogens in "[H]C.[H][H]": one bonded to another element, one bonded to hydrogen.
constexpr unsigned int kOnOther = 0, kOnHydrogen = 2;

/// Upper bound of the number of mappings of any pattern: each maps different neighbours of one atom, and none maps two
/// hydrogens. RDKit uses only the first 1,000.
bool may_have_many_mappings(const CompactMolecule& molecule) {
  double mappings = 0, hydrogens = 0;
  for (const AtomFacts& atom : molecule.atoms) {
    double orders = 1;
    for (int k = 2; k <= atom.degree; ++k) orders *= k;
    mappings += orders;
    hydrogens += atom.hydrogens;
  }
  return mappings + hydrogens >= Matcher::kMaxMappings;
}

/// Builds the molecule with all hydrogens as atoms, appended after the others. For the other atoms, elementary queries
/// still use RDKit's atoms without hydrogens. Of these queries, only the degree would differ, and no pattern of this
/// list uses it.
void add_hydrogens(const Work& work, const RDKit::ROMol& hydride, CompactMolecule& full, RdkitParts& parts) {
  const CompactMolecule& heavy = work.molecule;
  full.atoms = heavy.atoms;
  full.bonds = heavy.bonds;
  full.cycles = heavy.cycles;
  parts = work.parts;
  for (std::size_t i = 0; i < heavy.size(); ++i) {
    const bool on_hydrogen = heavy.atoms[i].number == 1;
    for (int h = 0; h < heavy.atoms[i].hydrogens; ++h) {
      AtomFacts hydrogen;
      hydrogen.number = hydrogen.degree = hydrogen.valence = 1;
      hydrogen.all_hydrogens = on_hydrogen;
      full.bonds.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(full.atoms.size()), kSingle});
      full.atoms.push_back(hydrogen);
      parts.atoms.push_back(hydride.getAtomWithIdx(on_hydrogen ? kOnHydrogen : kOnOther));
      parts.bonds.push_back(*hydride.bonds().begin());
    }
  }
  for (std::size_t i = 0; i < heavy.size(); ++i) full.atoms[i].hydrogens = 0;
  full.connect();
}

}  // namespace

CrippenTable::CrippenTable() {
  for (const auto& type : *RDKit::Descriptors::CrippenParamCollection::getParams()) {
    library_.add(std::shared_ptr<const RDKit::ROMol>(type.dp_pattern.get(), [](const RDKit::ROMol*) {}), type.smarts);
    values_.push_back({type.logp, type.mr});
  }
  RDKit::SmilesParserParams with_hydrogens;
  with_hydrogens.removeHs = false;
  hydride_.reset(RDKit::SmilesToMol("[H]C.[H][H]", with_hydrogens));
}

CrippenTable::Values CrippenTable::at(Matcher& matcher, std::size_t atom) const {
  for (const std::uint16_t pattern : matcher.candidates(atom))
    if ((matcher.first_atoms(pattern)[atom / 64] >> atom % 64 & 1) != 0) return values_[pattern];
  return {0.0, 0.0};
}

void CrippenTable::contributions(Work& work) const {
  const std::size_t n = work.size();
  work.logp.assign(n, 0.0);
  work.refractivity.assign(n, 0.0);
  if (may_have_many_mappings(work.molecule)) {
    constexpr bool with_hydrogens = true, again = true;
    RDKit::Descriptors::getCrippenAtomContribs(*work.rdkit, work.logp, work.refractivity, again);
    RDKit::Descriptors::calcCrippenDescriptors(*work.rdkit, work.logp_sum, work.refractivity_sum, with_hydrogens,
                                               again);
    return;
  }
  thread_local CompactMolecule full;
  thread_local RdkitParts parts;
  thread_local Matcher matcher;
  add_hydrogens(work, *hydride_, full, parts);
  matcher.assign(library_, full, parts);
  work.logp_sum = work.refractivity_sum = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const Values values = at(matcher, i);
    work.logp_sum += values.logp;
    work.refractivity_sum += values.refractivity;
    if (i < n) {
      work.logp[i] = values.logp;
      work.refractivity[i] = values.refractivity;
    }
  }
  if (!work.molecule.has_hydrogen_atoms) return;
  // Some patterns treat a hydrogen that is an atom differently, so the contributions of atoms come from the unchanged
  // graph.
  matcher.assign(library_, work.molecule, work.parts);
  for (std::size_t i = 0; i < n; ++i) {
    const Values values = at(matcher, i);
    work.logp[i] = values.logp;
    work.refractivity[i] = values.refractivity;
  }
}

}  // namespace molgraph::descriptors
