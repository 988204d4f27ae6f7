// Similarity of the validation and test molecules to the training molecules, and near twins among them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/report/report_record.hpp"
#include "apps/scoring/count_index.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// kMaxCompared: maximum number of training molecules to compare with, drawn with the seed. kMaxJudged: maximum
/// number of validation and test molecules; with more, nothing is compared.
inline constexpr std::int64_t kMaxCompared = 50'000, kMaxJudged = 20'000;
/// Maximum number of molecules among which near twins are searched for; drawn with the seed.
inline constexpr std::int64_t kMaxTwinCandidates = 5'000;
/// Minimum similarity of near twins.
inline constexpr double kTwinSimilarity = 0.7;
inline constexpr std::size_t kTwinsKept = 10;

/// Counts of a count-based Morgan fingerprint of radius 2.
struct Fingerprint {
  std::vector<std::uint32_t> column;
  std::vector<float> count;
  CountsView view() const { return {column, count}; }
};
/// [molecules], from their texts. Throws DataError if one can no longer be read.
std::vector<Fingerprint> fingerprints_of(const MoleculeSet& set, const std::vector<std::int64_t>& molecules,
                                         int threads);
/// For comparing molecules with these fingerprints.
CountIndex index_of(const std::vector<Fingerprint>& fingerprints);

/// Fills `similarity` of the validation and test sets (Tanimoto coefficient of count-based Morgan fingerprints, radius
/// 2, with the most similar other training molecule) and `twins`: pairs of validation and test molecules that are not
/// in the training set, with a similarity of at least kTwinSimilarity, whose labels differ (for regression, by more
/// than one standard deviation of the labels). Keeps the pairs with the largest differences; ties are ordered by
/// similarity. Throws DataError if a molecule's text can no longer be read.
void add_similarities(const MoleculeSet& set, const Split& split, std::uint64_t seed, int threads,
                      ReportRecord& record);

}  // namespace molgraph
