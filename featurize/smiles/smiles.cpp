#include "featurize/smiles/smiles.hpp"

#include <algorithm>

#include <GraphMol/GraphMol.h>
#include <RDGeneral/versions.h>

#include "featurize/graph/pair_relations.hpp"
#include "featurize/smiles/block_atoms.hpp"
#include "featurize/smiles/molecule.hpp"
#include "featurize/smiles/parent.hpp"
#include "featurize/smiles/rdkit_features.hpp"
#include "featurize/smiles/row_status.hpp"
#include "featurize/smiles/syntax_reason.hpp"
#include "featurize/smiles/whole_molecule.hpp"

namespace molgraph {
namespace {

/// An SDF record contains coordinates and data items, so it may have this many times the characters of a SMILES.
constexpr std::size_t kRecordFactor = 64;

Rejection too_large(std::string_view what, std::size_t count, std::size_t limit) {
  return {RowStatus::too_large,
          std::to_string(count) + " " + std::string(what) + ", the limit is " + std::to_string(limit)};
}

/// A list of elements or a substructure query is a pattern, not an atom. "*" is also a query, but has OGB's unknown
/// value.
bool is_pattern(const RDKit::ROMol& molecule) {
  for (const RDKit::Atom* atom : molecule.atoms()) {
    if (atom->hasQuery() && atom->getAtomicNum() != 0) return true;
  }
  return false;
}

FeaturizeResult featurize(ParsedMolecule&& parsed, std::string_view text, StereoMarks marks,
                          const FeaturizerOptions& options, const FeaturizerLimits& limits,
                          const FeaturizerExtras& extras) {
  if (!parsed.molecule) return Rejection{RowStatus::invalid_smiles, std::move(parsed.reason)};
  const std::size_t atoms = parsed.molecule->getNumAtoms();
  if (atoms == 0) return Rejection{RowStatus::no_atoms, "no atoms"};
  if (atoms > static_cast<std::size_t>(limits.max_atoms)) {
    return too_large("atoms", atoms, static_cast<std::size_t>(limits.max_atoms));
  }
  if (is_pattern(*parsed.molecule)) return Rejection{RowStatus::unsupported, "an atom is a query, not an element"};
  std::string failure = reason_of_failure([&] { standardise(parsed.molecule, options.standardize, marks); });
  if (!failure.empty()) return Rejection{RowStatus::invalid_smiles, "no parent structure: " + failure};
  RDKit::RWMol& molecule = *parsed.molecule;
  MolecularGraph graph;
  std::string unsupported;
  failure = reason_of_failure([&] {
    // Computed first, because the columns of some feature sets change the molecule.
    MolecularGraph whole;
    add_whole_molecule(molecule, text, marks, options.standardize, extras, whole);
    if (options.features == Features::ogb) {
      graph = ogb_graph(molecule);
    } else if (options.features == Features::molgraph) {
      graph = molgraph_graph(molecule);
    } else {
      auto zinc = zinc_graph(molecule);
      if (auto* reason = std::get_if<std::string>(&zinc)) {
        unsupported = std::move(*reason);
      } else {
        graph = std::get<MolecularGraph>(std::move(zinc));
      }
    }
    graph.descriptors = std::move(whole.descriptors);
    graph.fingerprint = std::move(whole.fingerprint);
  });
  if (!failure.empty()) return Rejection{RowStatus::invalid_smiles, std::move(failure)};
  if (!unsupported.empty()) return Rejection{RowStatus::unsupported, std::move(unsupported)};
  return graph;
}

}  // namespace

Featurizer::Featurizer(const FeaturizerOptions& options, const FeaturizerLimits& limits, const FeaturizerExtras& extras)
    : options_(options), limits_(limits), extras_(extras) {
  limits_.max_atoms = std::min(limits_.max_atoms, kMaxAtoms);
  extras_.descriptors = extras.descriptors || options.descriptors == DescriptorSet::rdkit;
  if (extras_.descriptors) prepare_descriptors();
}

FeaturizeResult Featurizer::smiles(std::string_view text) const {
  const std::string_view smiles = trimmed(text);
  if (smiles.empty()) return Rejection{RowStatus::empty, "empty"};
  if (smiles.size() > limits_.max_text) return too_large("characters", smiles.size(), limits_.max_text);
  // Atoms are counted before parsing: RDKit cannot be interrupted, and its ring search takes superlinear time.
  const int named = count_named_atoms(smiles);
  if (named > limits_.max_atoms) {
    return too_large("atoms", static_cast<std::size_t>(named), static_cast<std::size_t>(limits_.max_atoms));
  }
  const bool own = options_.features == Features::molgraph;
  return own ? featurize(parse_smiles_as_written(smiles), smiles, StereoMarks::as_written, options_, limits_, extras_)
             : featurize(parse_smiles(smiles), smiles, StereoMarks::cleaned, options_, limits_, extras_);
}

FeaturizeResult Featurizer::mol_block(std::string_view text) const {
  if (trimmed(text).empty()) return Rejection{RowStatus::empty, "empty"};
  const std::size_t limit = kRecordFactor * limits_.max_text;
  if (text.size() > limit) return too_large("characters", text.size(), limit);
  if (const int listed = count_block_atoms(text); listed > limits_.max_atoms)
    return too_large("atoms", static_cast<std::size_t>(listed), static_cast<std::size_t>(limits_.max_atoms));
  return featurize(parse_mol_block(text), text, StereoMarks::cleaned, options_, limits_, extras_);
}

std::string_view to_string(RowStatus status) { return row_status_word(status); }

std::string rdkit_version() { return RDKit::rdkitVersion; }

}  // namespace molgraph
