// SMILES text or an SDF record -> MolecularGraph, or a typed rejection. RDKit stays in the .cpp files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "featurize/graph/featurizer_options.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Status of an input row, as the programs print it.
enum class RowStatus : std::uint8_t {
  ok,
  empty,
  invalid_smiles,
  no_atoms,
  too_large,
  unsupported,
  not_finite,
  invalid_input,  ///< a cell of a column that the model reads is no number
};
std::string_view to_string(RowStatus status);

/// Why a row has no graph. `reason` is one line for people: "ring 1 not closed".
struct Rejection {
  RowStatus status = RowStatus::invalid_smiles;
  std::string reason;
};

/// Limits on resources. What lies above is rejected as too_large with the number in the reason.
struct FeaturizerLimits {
  int max_atoms = 1024;          ///< at most kMostAtoms, which replaces anything larger
  std::size_t max_text = 65536;  ///< characters of one SMILES; an SDF record may have 64 times as many
};

/// What is computed of each molecule although the options do not ask for it: for baselines beside a model.
struct FeaturizerExtras {
  bool descriptors = false;  ///< MolecularGraph::descriptors, as DescriptorSet::rdkit
  bool fingerprint = false;  ///< MolecularGraph::fingerprint: counts of Morgan environments of radius 2, at most 255
};

using FeaturizeResult = std::variant<MolecularGraph, Rejection>;

/// Thread-safe: one object may be used by all threads. RDKit's log never reaches the terminal.
class Featurizer {
 public:
  /// Throws FileError if descriptors are asked for and RDKit's list of fragments cannot be found or read.
  explicit Featurizer(const FeaturizerOptions& options = {}, const FeaturizerLimits& limits = {},
                      const FeaturizerExtras& extras = {});

  /// Blanks around the text are ignored. Atoms keep RDKit's order of the text. Never throws on bad text.
  FeaturizeResult smiles(std::string_view text) const;
  /// One SDF record (mol block without the data items is enough). Hydrogens are folded in as for SMILES.
  FeaturizeResult mol_block(std::string_view text) const;

  const FeaturizerOptions& options() const { return options_; }

 private:
  FeaturizerOptions options_;
  FeaturizerLimits limits_;
  FeaturizerExtras extras_;  ///< with what the options ask for
};

/// The version of the chemistry toolkit, e.g. "2022.09.3"; empty when built without one.
std::string rdkit_version();

}  // namespace molgraph
