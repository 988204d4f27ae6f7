// Index of many count fingerprints for comparing one molecule with all of them at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

/// A molecule's positive counts, in ascending order of column (below kFingerprintBins).
struct CountsView {
  std::span<const std::uint32_t> column;
  std::span<const float> count;
};

/// The molecules' counts by column. The overlap of a molecule with each of them is summed over its own columns.
class CountIndex {
 public:
  CountIndex();
  void add(const CountsView& molecule);
  std::size_t size() const { return total_.size(); }
  /// The Tanimoto coefficient sum(min)/sum(max) of the counts with each molecule, `to` [size()]: 0 to 1; 0 if neither
  /// has any counts. Thread-safe.
  void similarities(const CountsView& molecule, std::vector<double>& to) const;

 private:
  struct Entry {
    std::uint32_t molecule;
    float count;
  };
  std::vector<std::vector<Entry>> entries_;
  std::vector<double> total_;  ///< sum of a molecule's counts
};

}  // namespace molgraph
