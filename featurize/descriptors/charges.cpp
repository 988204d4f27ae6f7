// Partial charges: Gasteiger & Marsili 1980, Tetrahedron 36:3219, with RDKit's parameters and choices.
#include <GraphMol/GraphMol.h>
#include <GraphMol/PartialCharges/GasteigerParams.h>
#include <GraphMol/PeriodicTable.h>

#include <array>
#include <cmath>
#include <string>

#include "featurize/descriptors/work.hpp"

namespace molgraph::descriptors {
namespace {

constexpr int kIterations = 12;
constexpr int kHydrogen = 1, kOxygen = 8, kSulphur = 16;

/// Electronegativity of an orbital of charge q: a + b q + c q^2, in eV.
struct Orbital {
  double a = 0, b = 0, c = 0;
  bool known = false;  ///< false: RDKit's placeholder, all 0, which makes the charges of a bonded atom NaN
  double at(double q) const { return a + q * (b + c * q); }
};

/// Names of an atom's orbitals in the table of parameters.
enum Mode { sp3, sp2, sp, any, so, so2, none, kModes };
constexpr const char* kModeNames[kModes] = {"sp3", "sp2", "sp", "*", "so", "so2", ""};

using Table = std::array<std::array<Orbital, kModes>, kElements>;

const Table& table() {
  static const Table filled = [] {
    Table result{};
    const RDKit::GasteigerParams& rdkit = *RDKit::GasteigerParams::getParams();
    for (unsigned int z = 0; z < kElements; ++z) {
      const std::string symbol = RDKit::PeriodicTable::getTable()->getElementSymbol(z);
      for (std::size_t mode = 0; mode < kModes; ++mode) {
        const std::vector<double> values = rdkit.getParams(symbol, kModeNames[mode]);
        result[z][mode] = {values[0], values[1], values[2], values[0] != 0 || values[1] != 0 || values[2] != 0};
      }
    }
    return result;
  }();
  return filled;
}

Mode mode_of(const CompactMolecule& molecule, std::size_t atom) {
  const AtomFacts& facts = molecule.atoms[atom];
  switch (facts.hybridisation) {
    case RDKit::Atom::SP3: return sp3;
    case RDKit::Atom::SP2: return sp2;
    case RDKit::Atom::SP: return sp;
    default: break;
  }
  if (facts.number == kHydrogen) return any;
  if (facts.number != kSulphur) return none;
  int oxygens = 0;
  for (const Arc* arc = molecule.begin(atom); arc != molecule.end(atom); ++arc)
    oxygens += molecule.atoms[arc->atom].number == kOxygen;
  return oxygens == 2 ? so2 : oxygens == 1 ? so : sp3;
}

/// Divides a formal charge among atoms of one element that are two conjugated bonds apart, such as both oxygens of a
/// carboxylate. An atom that is reached by two paths counts twice.
void share_formal_charges(const CompactMolecule& molecule, std::vector<double>& charge) {
  std::vector<std::size_t> sharers;
  for (std::size_t i = 0; i < molecule.size(); ++i) {
    double sum = molecule.atoms[i].charge;
    if (sum == 0.0 || charge[i] != 0.0) continue;
    sharers.assign(1, i);
    for (const Arc* one = molecule.begin(i); one != molecule.end(i); ++one) {
      if (!molecule.bonds[one->bond].conjugated) continue;
      for (const Arc* two = molecule.begin(one->atom); two != molecule.end(one->atom); ++two) {
        if (two->bond == one->bond || !molecule.bonds[two->bond].conjugated) continue;
        if (molecule.atoms[two->atom].number != molecule.atoms[i].number) continue;
        sum += molecule.atoms[two->atom].charge;
        sharers.push_back(two->atom);
      }
    }
    for (const std::size_t sharer : sharers) charge[sharer] = sum / static_cast<double>(sharers.size());
  }
}

}  // namespace

void gasteiger_charges(Work& work) {
  const CompactMolecule& molecule = work.molecule;
  const std::size_t n = molecule.size();
  work.charge.assign(n, 0.0);
  work.has_parameters = true;
  share_formal_charges(molecule, work.charge);

  thread_local std::vector<const Orbital*> orbital;
  thread_local std::vector<double> inverse, energy, hydrogens, change;
  orbital.resize(n);
  inverse.resize(n);
  energy.resize(n);
  change.resize(n);
  hydrogens.assign(n, 0.0);  // sum over all implicit hydrogens of an atom
  for (std::size_t i = 0; i < n; ++i) {
    const AtomFacts& facts = molecule.atoms[i];
    orbital[i] = &table()[facts.number][mode_of(molecule, i)];
    work.has_parameters = work.has_parameters && orbital[i]->known;
    inverse[i] = 1.0 / (facts.number == kHydrogen ? RDKit::IONXH : orbital[i]->at(1.0));
  }
  const Orbital& hydrogen = table()[kHydrogen][any];
  double damp = RDKit::DAMP;
  for (int iteration = 0; iteration < kIterations; ++iteration, damp *= RDKit::DAMP_SCALE) {
    for (std::size_t i = 0; i < n; ++i) {
      energy[i] = orbital[i]->at(work.charge[i]);
      change[i] = 0;
    }
    // Charge flows to the more electronegative end, divided by the ionisation of the other end.
    for (const BondFacts& bond : molecule.bonds) {
      const double difference = energy[bond.end] - energy[bond.begin];
      const double flow = difference * inverse[difference < 0.0 ? bond.end : bond.begin];
      change[bond.begin] += flow;
      change[bond.end] -= flow;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const int count = molecule.atoms[i].hydrogens;
      if (count > 0) {
        const double difference = hydrogen.at(hydrogens[i] / count) - energy[i];
        const double flow = count * difference * (difference < 0.0 ? 1.0 / RDKit::IONXH : inverse[i]);
        hydrogens[i] -= flow * damp;
        change[i] += flow;
      }
      work.charge[i] += damp * change[i];
    }
  }
}

}  // namespace molgraph::descriptors
