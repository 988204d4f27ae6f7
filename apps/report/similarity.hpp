// How like the training molecules those are that a run is judged by, and which of these are near twins.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/report/report_record.hpp"
#include "apps/scoring/count_index.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Training molecules that are compared with, at most; drawn by the seed. Judged ones: above, nothing is compared.
inline constexpr std::int64_t kMostCompared = 50'000, kMostJudged = 20'000;
/// Molecules among which twins are looked for; drawn by the seed.
inline constexpr std::int64_t kMostTwinned = 5'000;
/// Twins are at least so similar.
inline constexpr double kTwinSimilarity = 0.7;
inline constexpr std::size_t kTwinsKept = 10;

/// Counts of a count-Morgan fingerprint of radius 2.
struct Fingerprint {
  std::vector<std::uint32_t> column;
  std::vector<float> count;
  CountsView view() const { return {column, count}; }
};
/// [molecules], from their texts. Throws DataError where one cannot be read any more.
std::vector<Fingerprint> fingerprints_of(const MoleculeSet& set, const std::vector<std::int64_t>& molecules,
                                         int threads);

/// Fills `similarity` of both parts (Tanimoto's coefficient of count-Morgan fingerprints, radius 2, with the most
/// similar other training molecule) and `twins`: pairs of validation and test molecules, none of the training part,
/// that are at least kTwinSimilarity similar and whose labels differ, of numbers by more than a standard deviation of
/// the labels; those that differ the most, of equal ones the most similar. Throws DataError where a molecule's text
/// cannot be read any more.
void add_similarities(const MoleculeSet& set, const Split& split, std::uint64_t seed, int threads,
                      ReportRecord& record);

}  // namespace molgraph
