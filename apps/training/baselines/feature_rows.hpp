// Inputs of the baselines for each molecule: fingerprint counts, descriptors and the user's columns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/scoring/count_index.hpp"
#include "datasets/store/molecule_set.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

/// Sparse rows of numbers. Only values that are not missing are stored, in ascending order of column.
struct FeatureRows {
  std::vector<std::string> descriptors, columns;  ///< names, as in Trees
  std::size_t width = kFingerprintBins;           ///< fingerprint counts, then descriptors and columns
  std::vector<std::size_t> offset{0};             ///< [rows + 1]
  std::vector<std::uint32_t> column;
  std::vector<float> value;  ///< finite; a count is a whole number from 1 to kMaxCount

  std::size_t size() const { return offset.size() - 1; }
  /// Writes row `i` to `dense` [width], NaN = missing.
  void spread(std::size_t i, float* dense) const;
  /// Returns the fingerprint of row `i`.
  CountsView counts(std::size_t i) const;
  /// Returns descriptors and columns of row `i`, NaN = missing.
  std::vector<float> numbers(std::size_t i) const;
};

/// Computes the rows of all molecules of the set from their texts. Throws DataError naming the first molecule that can
/// no longer be read (in a store written with another RDKit), FileError if RDKit's list of fragments is missing.
/// `progress` receives the number of finished molecules and may throw.
FeatureRows feature_rows(const MoleculeSet& set, int threads, const std::function<void(std::int64_t)>& progress = {});

}  // namespace molgraph
