// Index of many count fingerprints for comparing one molecule with all of them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/scoring/wide_loops.hpp"

namespace molgraph {

/// A molecule's positive counts, in ascending order of column (below kFingerprintBins).
struct CountsView {
  std::span<const std::uint32_t> column;
  std::span<const float> count;  ///< whole numbers from 1 to kMaxCount
};
inline constexpr int kMaxCount = 255;

/// The molecules' counts by column. The overlap of a molecule with each of them is summed over its own columns.
class CountIndex {
 public:
  explicit CountIndex(std::span<const CountsView> molecules);
  std::size_t size() const { return total_.size(); }
  /// The Tanimoto coefficient sum(min)/sum(max) of the counts with each molecule, `to` [size()]: 0 to 1; 0 if neither
  /// has any counts. The results do not depend on `avx2`. Thread-safe.
  void similarities(const CountsView& molecule, std::span<double> to, bool avx2 = has_avx2()) const;

 private:
  struct Entry {
    std::uint32_t molecule, count;
  };
  /// Columns that many molecules have are arrays of all molecules' counts, the others lists. This takes the least
  /// memory, and the processor compares many elements of an array at once.
  struct Column {
    std::vector<std::uint8_t> counts;  ///< [size()], or empty
    std::vector<Entry> entries;
  };
  std::vector<Column> columns_;
  std::vector<double> total_;  ///< sum of a molecule's counts
};

}  // namespace molgraph
