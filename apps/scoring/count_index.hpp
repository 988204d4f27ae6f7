// Fingerprints of many molecules, arranged so that one more is compared with all of them at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

/// A molecule's counts that are above 0, by rising column (below kFingerprintBins).
struct CountsView {
  std::span<const std::uint32_t> column;
  std::span<const float> count;
};

/// The molecules' counts by column: what a molecule shares with each of them is summed up over its own columns.
class CountIndex {
 public:
  CountIndex();
  void add(const CountsView& molecule);
  std::size_t size() const { return total_.size(); }
  /// Tanimoto's coefficient sum(min)/sum(max) of the counts with each molecule, `to` [size()]: 0 to 1; 0 where neither
  /// has any. Thread-safe.
  void similarities(const CountsView& molecule, std::vector<double>& to) const;

 private:
  struct Entry {
    std::uint32_t molecule;
    float count;
  };
  std::vector<std::vector<Entry>> of_column_;
  std::vector<double> total_;  ///< all counts of a molecule
};

}  // namespace molgraph
