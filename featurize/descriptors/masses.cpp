// Masses, electrons and partial charges of the whole molecule.
#include <algorithm>
#include <cmath>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

/// RDKit treats an atom as its element's most common isotope if its mass equals the natural average within this
/// tolerance, Da.
constexpr double kSameMass = 0.001;
/// Mass of an electron, Da. Cations have lost electrons.
constexpr double kElectronMass = 0.00054857991;

double exact_weight(const Work& work) {
  const double hydrogen = elements()[1].isotope_mass;
  double sum = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const AtomFacts& atom = work.molecule.atoms[i];
    const Element& element = elements()[atom.number];
    const bool natural = std::abs(work.molecule.mass[i] - element.weight) < kSameMass;
    sum += (natural ? element.isotope_mass : work.molecule.mass[i]) + atom.hydrogens * hydrogen -
           atom.charge * kElectronMass;
  }
  return sum;
}

}  // namespace

double molecular_weight(const Work& work, bool with_hydrogens) {
  double sum = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const AtomFacts& atom = work.molecule.atoms[i];
    if (with_hydrogens) sum += work.molecule.mass[i] + atom.hydrogens * elements()[1].weight;
    if (!with_hydrogens && atom.number != 1) sum += work.molecule.mass[i];
  }
  return sum;
}

void write_masses_and_electrons(Work& work, double* row) {
  work.weight = molecular_weight(work, true);
  row[slot("MolWt")] = work.weight;
  row[slot("HeavyAtomMolWt")] = molecular_weight(work, false);
  row[slot("ExactMolWt")] = exact_weight(work);
  int valence = 0, radical = 0;
  for (const AtomFacts& atom : work.molecule.atoms) {
    valence += elements()[atom.number].outer_electrons - atom.charge + atom.hydrogens;
    radical += atom.radicals;
  }
  row[slot("NumValenceElectrons")] = valence;
  row[slot("NumRadicalElectrons")] = radical;
}

void write_charges(const Work& work, double* row) {
  // Python's min() and max() keep the new value unless the old one is better. Therefore a charge that is not a number
  // replaces the values before it and is replaced by the next value.
  double min_charge = 500.0, max_charge = -500.0;
  for (const double charge : work.charge) {
    min_charge = min_charge < charge ? min_charge : charge;
    max_charge = max_charge > charge ? max_charge : charge;
  }
  row[slot("MinPartialCharge")] = min_charge;
  row[slot("MaxPartialCharge")] = max_charge;
  const double low = std::abs(min_charge), high = std::abs(max_charge);
  row[slot("MaxAbsPartialCharge")] = high > low ? high : low;
  row[slot("MinAbsPartialCharge")] = high < low ? high : low;
}

}  // namespace molgraph::descriptors
