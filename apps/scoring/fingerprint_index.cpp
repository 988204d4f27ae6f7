#include "apps/scoring/fingerprint_index.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace molgraph {
namespace {

// Baseline x86-64 lacks the popcnt instruction, but most processors have it. The search is compiled for both.
#if defined(__x86_64__) && defined(__GNUC__)
#define MOLGRAPH_COUNTS_BITS [[gnu::target("popcnt")]]
bool has_popcnt() { return __builtin_cpu_supports("popcnt") != 0; }
#else
#define MOLGRAPH_COUNTS_BITS
bool has_popcnt() { return false; }
#endif

template <std::size_t words>
[[gnu::always_inline]] inline int count(const std::array<std::uint64_t, words>& bits) {
  int sum = 0;
  for (const std::uint64_t word : bits) sum += std::popcount(word);
  return sum;
}

template <std::size_t words>
[[gnu::always_inline]] inline int common(const std::array<std::uint64_t, words>& a,
                                         const std::array<std::uint64_t, words>& b) {
  int sum = 0;
  for (std::size_t w = 0; w < words; ++w) sum += std::popcount(a[w] & b[w]);
  return sum;
}

std::array<std::uint64_t, 4> folded(const FingerprintBits& bits) {
  std::array<std::uint64_t, 4> fold{};
  for (std::size_t w = 0; w < bits.size(); ++w) fold[w % fold.size()] |= bits[w];
  return fold;
}

}  // namespace

FingerprintBits bits_of(std::span<const std::uint8_t> counts) {
  assert(counts.size() == kFingerprintBins);
  FingerprintBits bits{};
  for (std::size_t k = 0; k < counts.size(); ++k)
    if (counts[k] != 0) bits[k / 64] |= std::uint64_t{1} << (k % 64);
  return bits;
}

FingerprintIndex::FingerprintIndex(std::span<const FingerprintBits> molecules)
    : bits_(molecules.size()), folded_(molecules.size()), original_index_(molecules.size()),
      first_(kFingerprintBins + 2) {
  std::vector<int> sizes;
  for (const FingerprintBits& bits : molecules) sizes.push_back(count(bits));
  std::iota(original_index_.begin(), original_index_.end(), std::size_t{0});
  std::ranges::stable_sort(original_index_, {}, [&](std::size_t i) { return sizes[i]; });
  for (std::size_t k = 0; k < original_index_.size(); ++k) {
    bits_[k] = molecules[original_index_[k]];
    folded_[k] = folded(bits_[k]);
  }
  for (const int size : sizes) ++first_[static_cast<std::size_t>(size) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

/// The search for one query: visits the molecules by number of bits, the most promising numbers first.
struct FingerprintIndex::Search {
  const FingerprintIndex& all;
  const FingerprintBits& query;
  int size = 0;  ///< bits of the query
  Folded fold{};
  int best_common = 0, best_either = 1;  ///< similarity as a fraction
  std::size_t best = SIZE_MAX;

  /// Whether `shared` common bits with a molecule of `other` bits are at least as good as the best so far.
  [[gnu::always_inline]] bool may_win(int shared, int other) const {
    return static_cast<std::int64_t>(shared) * best_either >=
           static_cast<std::int64_t>(best_common) * (size + other - shared);
  }

  [[gnu::always_inline]] void scan_size(int other) {
    const std::size_t begin = all.first_[static_cast<std::size_t>(other)],
                      end = all.first_[static_cast<std::size_t>(other) + 1];
    const int folded_size = count(fold);
    for (std::size_t k = begin; k < end; ++k) {
      const int shared_folds = common(fold, all.folded_[k]);
      const int max_shared =
          std::min(size - (folded_size - shared_folds), other - (count(all.folded_[k]) - shared_folds));
      if (!may_win(max_shared, other)) continue;
      const int shared = common(query, all.bits_[k]), either = std::max(1, size + other - shared);
      const std::int64_t difference =
          static_cast<std::int64_t>(shared) * best_either - static_cast<std::int64_t>(best_common) * either;
      if (difference < 0 || (difference == 0 && all.original_index_[k] > best)) continue;
      best_common = shared, best_either = either, best = all.original_index_[k];
    }
  }

  [[gnu::always_inline]] void run() {
    const int max_bits = static_cast<int>(kFingerprintBins);
    size = count(query);
    fold = folded(query);
    // Going down and up from the query's number of bits, similarity is at most min/max. Once this bound is too small,
    // it stays so in that direction.
    for (int lower = size, higher = size + 1; lower >= 0 || higher <= max_bits;) {
      if (lower >= 0 && !may_win(lower, lower)) lower = -1;
      if (higher <= max_bits && !may_win(size, higher)) higher = max_bits + 1;
      if (lower >= 0) scan_size(lower--);
      if (higher <= max_bits) scan_size(higher++);
    }
  }
  MOLGRAPH_COUNTS_BITS void run_with_popcnt() { run(); }
};

SimilarMolecule FingerprintIndex::most_similar(const FingerprintBits& query) const {
  assert(size() > 0);
  static const bool fast = has_popcnt();
  Search search{*this, query};
  if (fast) search.run_with_popcnt();
  else search.run();
  return {static_cast<double>(search.best_common) / search.best_either, search.best};
}

}  // namespace molgraph
