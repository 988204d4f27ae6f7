#include <GraphMol/Chirality.h>
#include <GraphMol/Descriptors/Crippen.h>
#include <GraphMol/Descriptors/Lipinski.h>
#include <GraphMol/Fingerprints/MorganFingerprints.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/fragment_scores.hpp"
#include "featurize/smiles/molecule.hpp"
#include "featurize/smiles/paton_cycles.hpp"

namespace molgraph {
namespace {

/// Means and population standard deviations over the 220,011 training molecules of ZINC-full.
constexpr double kLogpMean = 2.4577998006008803, kLogpDeviation = 1.4334180962410332;
constexpr double kSaMean = 3.0535808763560266, kSaDeviation = 0.8347194306186498;
constexpr double kCycleMean = 0.04829303989345987, kCycleDeviation = 0.28775759686956115;
/// Rings up to this size have no penalty.
constexpr int kFreeCycle = 6;
/// Smallest number of atoms in a macrocycle.
constexpr std::size_t kMacrocycle = 9;

/// Loaded by the first caller. On failure, that caller gets the exception, and the next caller tries again.
const FragmentScores& fragment_scores() {
  static const FragmentScores scores = FragmentScores::load(rdkit_data_dir() + "/Contrib/SA_Score/fpscores.pkl.gz");
  return scores;
}

/// Number of stereocentres with a CIP label plus possible stereocentres.
int chiral_centres(RDKit::ROMol& molecule) {
  RDKit::MolOps::assignStereochemistry(molecule, false, true, true);
  int centres = 0;
  for (const RDKit::Atom* atom : molecule.atoms()) {
    centres += atom->hasProp(RDKit::common_properties::_CIPCode) ||
               atom->hasProp(RDKit::common_properties::_ChiralityPossible);
  }
  return centres;
}

/// Synthetic accessibility of Ertl & Schuffenhauer 2009 with the two changes of RDKit's contributed version: log10(2)
/// for any number of macrocycles, and a bonus for symmetric molecules. 1 = easy, 10 = hard.
double synthetic_accessibility(RDKit::ROMol& molecule, const FragmentScores& scores) {
  const std::unique_ptr<RDKit::SparseIntVect<std::uint32_t>> fingerprint(
      RDKit::MorganFingerprints::getFingerprint(molecule, 2));
  const auto& bits = fingerprint->getNonzeroElements();
  double fragments = 0, count = 0;
  for (const auto& [bit, times] : bits) {
    fragments += scores.of(bit) * times;
    count += times;
  }
  fragments /= count;

  const double atoms = molecule.getNumAtoms();
  const auto& rings = molecule.getRingInfo()->atomRings();
  const bool macrocycle =
      std::any_of(rings.begin(), rings.end(), [](const auto& ring) { return ring.size() >= kMacrocycle; });
  double complexity = std::pow(atoms, 1.005) - atoms;
  complexity += std::log10(chiral_centres(molecule) + 1.0);
  complexity += std::log10(RDKit::Descriptors::calcNumSpiroAtoms(molecule) + 1.0);
  complexity += std::log10(RDKit::Descriptors::calcNumBridgeheadAtoms(molecule) + 1.0);
  if (macrocycle) complexity += std::log10(2.0);

  const auto distinct = static_cast<double>(bits.size());
  const double symmetry = atoms > distinct ? 0.5 * std::log(atoms / distinct) : 0.0;

  constexpr double lowest = -4.0, highest = 2.5;
  double score = 11.0 - (fragments - complexity + symmetry - lowest + 1.0) / (highest - lowest) * 9.0;
  if (score > 8.0) score = 8.0 + std::log(score - 8.0);
  return std::clamp(score, 1.0, 10.0);
}

int cycle_term(const RDKit::ROMol& molecule) {
  std::vector<std::vector<int>> neighbours(molecule.getNumAtoms());
  for (const RDKit::Bond* bond : molecule.bonds()) {
    neighbours[bond->getBeginAtomIdx()].push_back(static_cast<int>(bond->getEndAtomIdx()));
    neighbours[bond->getEndAtomIdx()].push_back(static_cast<int>(bond->getBeginAtomIdx()));
  }
  for (auto& row : neighbours) std::sort(row.begin(), row.end());
  return std::max(0, longest_paton_cycle(neighbours) - kFreeCycle);
}

}  // namespace

PenalizedLogP penalized_logp(std::string_view smiles) {
  const FragmentScores& scores = fragment_scores();
  const auto molecule = molecule_or_throw(smiles);
  if (molecule->getNumAtoms() == 0) throw DataError("", 0, "no atoms", std::string(smiles));
  PenalizedLogP label{};
  const std::string failure = reason_of_failure([&] {
    double refractivity = 0;
    RDKit::Descriptors::calcCrippenDescriptors(*molecule, label.logp, refractivity);
    label.cycle = cycle_term(*molecule);
    label.sa = synthetic_accessibility(*molecule, scores);
  });
  if (!failure.empty()) throw DataError("", 0, "no penalised logP: " + failure, std::string(smiles));
  label.y = (label.logp - kLogpMean) / kLogpDeviation - (label.sa - kSaMean) / kSaDeviation -
            (label.cycle - kCycleMean) / kCycleDeviation;
  return label;
}

}  // namespace molgraph
