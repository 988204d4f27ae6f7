// Search for the most similar of many molecules by fingerprint bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

/// The non-zero bins of a fingerprint.
using FingerprintBits = std::array<std::uint64_t, kFingerprintBins / 64>;
/// `counts` [kFingerprintBins].
FingerprintBits bits_of(std::span<const std::uint8_t> counts);

struct SimilarMolecule {
  double similarity = 0;  ///< Tanimoto coefficient: common bits / bits set in either, 0 to 1; 0 if neither has any
  std::size_t index = 0;  ///< in the order of the fingerprints; for ties, the first
};

/// Exact search. Two upper bounds of the number of common bits exclude most molecules: the smaller number of bits
/// (Swamidass & Baldi 2007, "Bounds and algorithms for fast exact searches of chemical fingerprints"), and a bound from
/// fingerprints folded to 256 bits, where a folded bit that only one of them has implies at least one bit that only
/// this one has. Thread-safe.
class FingerprintIndex {
 public:
  explicit FingerprintIndex(std::span<const FingerprintBits> molecules);
  std::size_t size() const { return original_index_.size(); }
  /// There must be at least one molecule.
  SimilarMolecule most_similar(const FingerprintBits& query) const;

 private:
  using Folded = std::array<std::uint64_t, 4>;
  struct Search;

  // Sorted by number of bits:
  std::vector<FingerprintBits> bits_;
  std::vector<Folded> folded_;
  std::vector<std::size_t> original_index_;  ///< of the molecule, before sorting
  std::vector<std::size_t> first_;  ///< [kFingerprintBins + 2] first molecule with at least this number of bits
};

}  // namespace molgraph
