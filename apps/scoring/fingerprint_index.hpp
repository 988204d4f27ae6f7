// The most similar of many molecules by their fingerprints' bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

/// Which bins of a fingerprint are not 0.
using FingerprintBits = std::array<std::uint64_t, kFingerprintBins / 64>;
/// `counts` [kFingerprintBins].
FingerprintBits bits_of(std::span<const std::uint8_t> counts);

struct SimilarMolecule {
  double similarity = 0;  ///< Tanimoto's coefficient: common bits over bits of either, 0 to 1; 0 where neither has any
  std::size_t index = 0;  ///< in the order of the fingerprints; of equally similar ones the first
};

/// Exact search. Most molecules are passed over by two bounds of the common bits: the smaller number of bits (Swamidass
/// & Baldi 2007, "Bounds and algorithms for fast exact searches of chemical fingerprints"), and what fingerprints
/// folded to 256 bits leave: a folded bit that only one has stands for at least one bit that only that one has.
/// Thread-safe.
class FingerprintIndex {
 public:
  explicit FingerprintIndex(std::span<const FingerprintBits> molecules);
  std::size_t size() const { return number_.size(); }
  /// There must be at least one molecule.
  SimilarMolecule most_similar(const FingerprintBits& query) const;

 private:
  using Folded = std::array<std::uint64_t, 4>;
  struct Search;

  // In the order of the number of bits:
  std::vector<FingerprintBits> bits_;
  std::vector<Folded> folded_;
  std::vector<std::size_t> number_;  ///< of the molecule as it was given
  std::vector<std::size_t> first_;   ///< [kFingerprintBins + 2] the first with at least so many bits
};

}  // namespace molgraph
