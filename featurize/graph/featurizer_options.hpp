// What a featuriser computes, as text and as a hash. Every data store and every model stores both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// Molecule-level descriptors computed in addition to the graph: none, or RDKit's 2-D descriptors.
enum class DescriptorSet : std::uint8_t { none, rdkit };
/// Preparation of a molecule before featurisation: none, or removal of salts and solvents and neutralisation of
/// charges.
enum class Standardize : std::uint8_t { none, parent };
std::string_view to_string(Standardize standardize);         ///< "none", "parent"
Standardize standardize_from_string(std::string_view text);  ///< throws UsageError

/// All options that change the values computed for a molecule. Resource limits are not included and not hashed.
struct FeaturizerOptions {
  Features features = Features::ogb;  ///< the atom and bond columns
  DescriptorSet descriptors = DescriptorSet::none;
  Standardize standardize = Standardize::none;

  bool operator==(const FeaturizerOptions&) const = default;
  /// "molgraph-featurizer v1; features=ogb; ...", one line. The format is stable.
  std::string canonical_text() const;
  /// XXH3-64 of canonical_text(), 16 hex digits.
  std::string hash() const;
  /// Inverse of canonical_text(). Throws FileError for text that this version cannot read.
  static FeaturizerOptions from_canonical_text(const std::string& text);
};

}  // namespace molgraph
