#include "featurize/smiles/parent.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/MolStandardize/Charge.h>
#include <GraphMol/MolStandardize/Fragment.h>

#include <mutex>
#include <vector>

namespace molgraph {
namespace {

/// RDKit's tools with their patterns, which take a millisecond to parse: one instance per thread.
struct Tools {
  RDKit::MolStandardize::LargestFragmentChooser fragments{true};  // prefers organic fragments
  RDKit::MolStandardize::Uncharger charges{true};                 // does not depend on the order of the atoms
};

Tools& tools_of_this_thread() {
  static std::mutex reading_patterns;
  thread_local const std::unique_ptr<Tools> tools = [] {
    const std::lock_guard lock(reading_patterns);
    return std::make_unique<Tools>();
  }();
  return *tools;
}

bool has_fragments(const RDKit::ROMol& molecule) {
  std::vector<int> fragment_of_atom;
  return RDKit::MolOps::getMolFrags(molecule, fragment_of_atom) > 1;
}

bool has_charges(const RDKit::ROMol& molecule) {
  for (const RDKit::Atom* atom : molecule.atoms())
    if (atom->getFormalCharge() != 0) return true;
  return false;
}

}  // namespace

void standardise(std::unique_ptr<RDKit::RWMol>& molecule, Standardize standardize, StereoMarks marks) {
  if (standardize == Standardize::none) return;
  bool changed = false;
  const auto replace = [&](RDKit::ROMol* other) {
    const std::unique_ptr<RDKit::ROMol> owned(other);
    molecule = std::make_unique<RDKit::RWMol>(*owned);
    changed = true;
  };
  if (has_fragments(*molecule)) replace(tools_of_this_thread().fragments.choose(*molecule));
  if (has_charges(*molecule)) replace(tools_of_this_thread().charges.uncharge(*molecule));
  if (!changed) return;
  // Recomputes properties derived from the charges (conjugation, hybridisation, radicals).
  constexpr bool clean = true, again = true;
  molecule->clearComputedProps();
  RDKit::MolOps::sanitizeMol(*molecule);
  if (marks == StereoMarks::cleaned) RDKit::MolOps::assignStereochemistry(*molecule, clean, again);
}

ParsedMolecule standardised_molecule(std::string_view text, bool is_mol_block, const FeaturizerOptions& options) {
  const bool as_written = !is_mol_block && options.features == Features::molgraph;
  ParsedMolecule parsed = is_mol_block ? parse_mol_block(text)
                          : as_written ? parse_smiles_as_written(text)
                                       : parse_smiles(text);
  if (!parsed.molecule) return parsed;
  parsed.reason = reason_of_failure([&] {
    standardise(parsed.molecule, options.standardize, as_written ? StereoMarks::as_written : StereoMarks::cleaned);
  });
  if (!parsed.reason.empty()) parsed.molecule.reset();
  return parsed;
}

}  // namespace molgraph
