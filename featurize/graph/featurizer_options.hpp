// What a featuriser computes, as text and as a hash: stored in every data store and every model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// Numbers that are computed of a whole molecule beside its graph: none, or RDKit's 2-D descriptors.
enum class DescriptorSet : std::uint8_t { none, rdkit };
/// What is done to a molecule before it is looked at: nothing, or salts and solvents taken off and charges neutralised.
enum class Standardize : std::uint8_t { none, parent };
std::string_view to_string(Standardize standardize);         ///< "none", "parent"
Standardize standardize_from_string(std::string_view text);  ///< throws UsageError

/// Everything that changes the numbers a molecule becomes. Limits on resources are not here and are not hashed.
struct FeaturizerOptions {
  Features features = Features::ogb;  ///< the atom and bond columns
  DescriptorSet descriptors = DescriptorSet::none;
  Standardize standardize = Standardize::none;

  bool operator==(const FeaturizerOptions&) const = default;
  /// "molgraph-featurizer v1; features=ogb; ..." one line, stable.
  std::string canonical_text() const;
  /// XXH3-64 of canonical_text(), 16 hex digits.
  std::string hash() const;
  /// Inverse of canonical_text(); throws FileError on text this version cannot read.
  static FeaturizerOptions from_canonical_text(const std::string& text);
};

}  // namespace molgraph
