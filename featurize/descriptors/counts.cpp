// Counts of atoms, rings and fragments, and counts used in drug discovery.
#include <GraphMol/GraphMol.h>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {

/// Uses RDKit's set of smallest rings.
void write_rings(const Work& work, double* row) {
  const CompactMolecule& molecule = work.molecule;
  const RDKit::RingInfo& rings = *work.rdkit->getRingInfo();
  int aromatic = 0, aliphatic = 0, saturated = 0;
  int aromatic_hetero = 0, aliphatic_hetero = 0, saturated_hetero = 0;
  for (const auto& ring : rings.bondRings()) {
    bool all_aromatic = true, all_single = true, hetero = false;
    for (const int index : ring) {
      const BondFacts& bond = molecule.bonds[static_cast<std::size_t>(index)];
      all_aromatic = all_aromatic && bond.aromatic;
      all_single = all_single && bond.type == kSingle && !bond.aromatic;
      hetero = hetero || molecule.atoms[bond.begin].number != 6 || molecule.atoms[bond.end].number != 6;
    }
    aromatic += all_aromatic;
    aliphatic += !all_aromatic;
    saturated += all_single;
    aromatic_hetero += all_aromatic && hetero;
    aliphatic_hetero += !all_aromatic && hetero;
    saturated_hetero += all_single && hetero;
  }
  row[slot("RingCount")] = rings.numRings();
  row[slot("NumAromaticRings")] = aromatic;
  row[slot("NumAliphaticRings")] = aliphatic;
  row[slot("NumSaturatedRings")] = saturated;
  row[slot("NumAromaticHeterocycles")] = aromatic_hetero;
  row[slot("NumAliphaticHeterocycles")] = aliphatic_hetero;
  row[slot("NumSaturatedHeterocycles")] = saturated_hetero;
  row[slot("NumAromaticCarbocycles")] = aromatic - aromatic_hetero;
  row[slot("NumAliphaticCarbocycles")] = aliphatic - aliphatic_hetero;
  row[slot("NumSaturatedCarbocycles")] = saturated - saturated_hetero;
}

/// Lipinski et al. 1997, Adv. Drug Deliv. Rev. 23:3, and RDKit's own definitions of donors and acceptors.
void write_counts(Work& work, const CountedPatterns& patterns, double* row) {
  int hetero = 0, carbon = 0, tetrahedral = 0, polar = 0, polar_hydrogens = 0;
  for (const AtomFacts& atom : work.molecule.atoms) {
    const bool nitrogen_or_oxygen = atom.number == 7 || atom.number == 8;
    hetero += atom.number != 6 && atom.number != 1;
    carbon += atom.number == 6;
    tetrahedral += atom.number == 6 && atom.total_degree() == 4;
    polar += nitrogen_or_oxygen;
    polar_hydrogens += nitrogen_or_oxygen ? atom.all_hydrogens : 0;
  }
  const auto count = [&](int pattern) { return patterns.count(work.matcher, *work.rdkit, pattern); };
  work.acceptors = count(patterns.acceptor);
  work.donors = count(patterns.donor);
  work.rotatable = count(patterns.rotatable);
  row[slot("HeavyAtomCount")] = work.molecule.heavy_atoms;
  row[slot("NumHeteroatoms")] = hetero;
  row[slot("FractionCSP3")] = carbon == 0 ? 0.0 : static_cast<double>(tetrahedral) / carbon;
  row[slot("NOCount")] = polar;
  row[slot("NHOHCount")] = polar_hydrogens;
  row[slot("NumHAcceptors")] = work.acceptors;
  row[slot("NumHDonors")] = work.donors;
  row[slot("NumRotatableBonds")] = work.rotatable;
}

void write_fragments(Work& work, const CountedPatterns& patterns, double* row) {
  for (std::size_t k = 0; k < patterns.fragments.size(); ++k)
    row[kFirstFragment + k] = patterns.count(work.matcher, *work.rdkit, patterns.fragments[k]);
}

}  // namespace molgraph::descriptors
