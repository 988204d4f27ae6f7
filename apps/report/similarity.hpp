// How like the training molecules those are that a run is judged by, and which of these are near twins.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/report/report_record.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Training molecules that are compared with, at most; drawn by the seed. Judged ones: above, nothing is compared.
inline constexpr std::int64_t kMostCompared = 50'000, kMostJudged = 20'000;
/// Molecules among which twins are looked for; drawn by the seed.
inline constexpr std::int64_t kMostTwinned = 5'000;
/// Twins are at least so similar.
inline constexpr double kTwinSimilarity = 0.7;
inline constexpr std::size_t kTwinsKept = 10;

/// Fills `similarity` of both parts (Tanimoto's coefficient of count-Morgan fingerprints, radius 2, with the most
/// similar training molecule) and `twins`: pairs of validation and test molecules that are at least kTwinSimilarity
/// similar and whose labels differ, of numbers by more than a standard deviation of the labels; those that differ the
/// most, of equal ones the most similar. Throws DataError where a molecule's text cannot be read any more.
void add_similarities(const MoleculeSet& set, const Split& split, std::uint64_t seed, int threads,
                      ReportRecord& record);

}  // namespace molgraph
