// Columns that scoring adds to a table. molgraph-score names its columns from this list, and training ignores these
// columns.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

namespace output_column {
// Suffixes of a target's name.
inline constexpr const char *kPrediction = "_pred", *kProbability = "_prob_", *kDeviation = "_std", *kLow = "_low",
                            *kHigh = "_high", *kAtoms = "_atoms", *kBaseline = "_baseline",
                            *kDescriptors = "_descriptors", *kBlend = "_blend", *kOfFragments = "_fragments";
// Prefix of a target's name: the measured value of the nearest training molecule.
inline constexpr const char* kDomain = "domain_";
// Prefix of any of these names if the input already has a column of that name.
inline constexpr const char* kTakenPrefix = "molgraph_";
// Complete names.
inline constexpr const char *kNearestDistance = "nearest_distance", *kNearestId = "nearest_id",
                            *kSimilarity = "domain_similarity", *kDomainId = "domain_id",
                            *kDomainSmiles = "domain_smiles", *kPercentile = "domain_percentile",
                            *kElementsSeen = "domain_elements_seen", *kRingsSeen = "domain_rings_seen",
                            *kRollout = "rollout", *kFragmentOfAtom = "fragment_of_atom", *kStatus = "status",
                            *kReason = "reason";
}  // namespace output_column

/// Detects columns that these programs wrote.
class OutputColumns {
 public:
  /// `columns`: all names of the table.
  explicit OutputColumns(const std::vector<std::string>& columns);

  /// True, in any case, for names that end in _pred, _std, _pred_N or _std_N, names that contain _prob_, names that
  /// begin with molgraph_, and the complete names above. If the table has NAME_pred, also true for NAME_low, NAME_high,
  /// NAME_atoms, NAME_baseline, NAME_descriptors, NAME_blend, NAME_fragments, NAME_std_CLASS and domain_NAME.
  bool contains(std::string_view name) const;

 private:
  std::set<std::string, std::less<>> predicted_;  ///< NAME of each NAME_pred, in lower case
};

}  // namespace molgraph
