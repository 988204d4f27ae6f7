// SMILES text or an SDF record -> MolecularGraph, or a rejection with a reason. Only the .cpp files include RDKit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "featurize/graph/featurizer_options.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Status of an input row, as printed by the programs.
enum class RowStatus : std::uint8_t {
  ok,
  empty,
  invalid_smiles,
  no_atoms,
  too_large,
  unsupported,
  not_finite,
  invalid_input,  ///< a cell of a column that the model reads is not a number
};
std::string_view to_string(RowStatus status);

/// Why a row has no graph. `reason` is one readable line, for example "ring 1 not closed".
struct Rejection {
  RowStatus status = RowStatus::invalid_smiles;
  std::string reason;
};

/// Resource limits. Larger input is rejected as too_large, and the reason contains the number.
struct FeaturizerLimits {
  int max_atoms = 1024;          ///< at most kMaxAtoms; larger values are reduced to it
  std::size_t max_text = 65536;  ///< characters of one SMILES; an SDF record may have 64 times as many
};

/// Values computed for each molecule in addition to those of the options: for baselines next to a model.
struct FeaturizerExtras {
  bool descriptors = false;  ///< MolecularGraph::descriptors, as with DescriptorSet::rdkit
  bool fingerprint = false;  ///< MolecularGraph::fingerprint: counts of Morgan environments of radius 2, at most 255
};

using FeaturizeResult = std::variant<MolecularGraph, Rejection>;

/// Thread-safe: all threads may share one object. RDKit's log never reaches the terminal.
class Featurizer {
 public:
  /// Throws FileError if descriptors are requested and RDKit's list of fragments cannot be found or read.
  explicit Featurizer(const FeaturizerOptions& options = {}, const FeaturizerLimits& limits = {},
                      const FeaturizerExtras& extras = {});

  /// Ignores whitespace around the text. Atoms have RDKit's order of the text. Never throws on invalid text.
  FeaturizeResult smiles(std::string_view text) const;
  /// One SDF record (a mol block without data items is enough). Hydrogens are folded in as for SMILES.
  FeaturizeResult mol_block(std::string_view text) const;

  const FeaturizerOptions& options() const { return options_; }

 private:
  FeaturizerOptions options_;
  FeaturizerLimits limits_;
  FeaturizerExtras extras_;  ///< including those that the options request
};

/// Version of the chemistry toolkit, for example "2022.09.3"; empty if built without RDKit.
std::string rdkit_version();

}  // namespace molgraph
