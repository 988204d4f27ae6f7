#include "featurize/descriptors/calculator.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/morgan.hpp"
#include "featurize/descriptors/slots.hpp"
#include "featurize/descriptors/work.hpp"

namespace molgraph {

using namespace descriptors;

namespace {

constexpr std::uint32_t kFingerprintRadius = 2;

/// Runs a step. If RDKit or the step fails, the step's values keep their initial value.
template <typename Step>
bool attempt(Step step) {
  try {
    step();
    return true;
  } catch (...) {
    return false;
  }
}

/// QED removes hydrogen atoms once more. Few molecules have any after parsing, and most of these keep them: isotopes,
/// and hydrogens that bridge atoms.
void write_qed_without_hydrogens(Work& work, const CountedPatterns& patterns, const CrippenTable& crippen,
                                 double* row) {
  if (!work.molecule.has_hydrogen_atoms) {
    write_qed(work, patterns, row);
    return;
  }
  const std::unique_ptr<RDKit::ROMol> bare(RDKit::MolOps::removeHs(*work.rdkit));
  work.loses_hydrogens = bare->getNumAtoms() != work.size();
  Work own;
  own.assign(*bare);
  own.matcher.assign(patterns.library, own.molecule, own.parts);
  crippen.contributions(own);
  own.polar_area = polar_surface(own);
  own.weight = molecular_weight(own, true);
  std::vector<double> scratch(kNames.size());
  write_counts(own, patterns, scratch.data());
  write_qed(own, patterns, row);
}

}  // namespace

struct DescriptorCalculator::Tables {
  CountedPatterns patterns;
  CrippenTable crippen;
};

DescriptorCalculator::DescriptorCalculator(const std::string& fragment_file)
    : tables_(new Tables{CountedPatterns(fragment_file), CrippenTable()}) {}
DescriptorCalculator::~DescriptorCalculator() = default;

template <typename Clock>
void DescriptorCalculator::run(const RDKit::ROMol& molecule, std::span<double> values, Clock clock) const {
  assert(values.size() == kNames.size());
  thread_local Work work;
  const CountedPatterns& patterns = tables_->patterns;
  const CrippenTable& crippen = tables_->crippen;
  double* row = values.data();
  std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
  // Every step uses the results of earlier steps. If one of these fails, later values would be wrong.
  const bool ready = attempt([&] {
    work.assign(molecule);
    work.matcher.assign(patterns.library, work.molecule, work.parts);
    clock("graph");
    gasteiger_charges(work);
    clock("charges");
    crippen.contributions(work);
    clock("logP and refractivity");
    labute_areas(work);
    clock("surface areas");
    find_distances(work);
    estate_indices(work);
    clock("distances, E-states");
  });
  if (ready) {
    const auto step = [&](std::string_view name, auto write) {
      attempt(write);
      clock(name);
    };
    step("masses, electrons", [&] { write_masses_and_electrons(work, row); });
    step("charge extremes", [&] { write_charges(work, row); });
    step("E-state extremes", [&] { write_electrotopology(work, row); });
    step("surface bins, TPSA", [&] { write_surface(work, row); });
    step("Chi, Kappa", [&] { write_connectivity(work, row); });
    step("BalabanJ, BertzCT", [&] { write_topology(work, row); });
    step("rings", [&] { write_rings(work, row); });
    step("atoms, donors, acceptors, rotors", [&] { write_counts(work, patterns, row); });
    step("fragments", [&] { write_fragments(work, patterns, row); });
    step("QED", [&] { write_qed_without_hydrogens(work, patterns, crippen, row); });
    step("BCUT2D", [&] { write_bcut(work, row); });
    step("fingerprint densities", [&] { write_fingerprint_densities(work, row); });
  }
  for (double& value : values)
    if (!std::isfinite(value)) value = std::numeric_limits<double>::quiet_NaN();
}

void DescriptorCalculator::descriptors(const RDKit::ROMol& molecule, std::span<double> values) const {
  run(molecule, values, [](std::string_view) {});
}

std::span<const DescriptorCalculator::StepTime> DescriptorCalculator::time_steps(const RDKit::ROMol& molecule) const {
  thread_local std::vector<StepTime> steps;
  thread_local std::vector<double> values(kNames.size());
  using SteadyClock = std::chrono::steady_clock;
  steps.clear();
  SteadyClock::time_point last = SteadyClock::now();
  run(molecule, values, [&](std::string_view step) {
    const SteadyClock::time_point now = SteadyClock::now();
    steps.push_back({step, std::chrono::duration<double>(now - last).count()});
    last = now;
  });
  return steps;
}

void morgan_fingerprint(const RDKit::ROMol& molecule, std::span<std::uint8_t> counts) {
  assert(counts.size() == kFingerprintBins);
  thread_local CompactMolecule compact;
  thread_local std::vector<Environment> found;
  compact.assign(molecule);
  find_environments(compact, kFingerprintRadius, found);
  std::fill(counts.begin(), counts.end(), std::uint8_t{0});
  for (const Environment& environment : found) {
    std::uint8_t& count = counts[environment.id % kFingerprintBins];
    if (count < 255) ++count;
  }
}

}  // namespace molgraph
