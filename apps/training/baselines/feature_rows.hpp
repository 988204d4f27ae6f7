// What trees and the nearest neighbour see of molecules: the counts of a fingerprint, descriptors, the user's columns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/scoring/count_index.hpp"
#include "datasets/store/molecule_set.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

/// Rows of numbers of which most are missing: only those that are there, by rising column.
struct FeatureRows {
  std::vector<std::string> descriptors, columns;  ///< names, as Trees has them
  std::size_t width = kFingerprintBins;           ///< the fingerprint's counts, then these
  std::vector<std::size_t> offset{0};             ///< [rows + 1]
  std::vector<std::uint32_t> column;
  std::vector<float> value;  ///< finite; a count is above 0

  std::size_t size() const { return offset.size() - 1; }
  /// Row `i` as `dense` [width], NaN where nothing is.
  void spread(std::size_t i, float* dense) const;
  /// The fingerprint of row `i`.
  CountsView counts(std::size_t i) const;
  /// Descriptors and columns of row `i`, NaN = missing.
  std::vector<float> numbers(std::size_t i) const;
};

/// Of all molecules of the set, from their texts. Throws DataError naming the first that cannot be read any more (a
/// store of another RDKit's molecules), FileError without RDKit's list of fragments. `progress` is told how many are
/// done and may throw.
FeatureRows feature_rows(const MoleculeSet& set, int threads, const std::function<void(std::int64_t)>& progress = {});

}  // namespace molgraph
