#include "apps/scoring/count_index.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {
namespace {

/// Adds min(count, counts[i]) to overlap[i].
MOLGRAPH_ALWAYS_INLINE void add_minima(std::uint8_t count, const std::uint8_t* counts, std::size_t size,
                                       std::uint32_t* overlap) {
  for (std::size_t i = 0; i < size; ++i) overlap[i] += std::min(count, counts[i]);
}
MOLGRAPH_AVX2 void add_minima_avx2(std::uint8_t count, const std::uint8_t* counts, std::size_t size,
                                   std::uint32_t* overlap) {
  add_minima(count, counts, size, overlap);
}

std::uint8_t whole(float count) {
  assert(count >= 1 && count <= kMaxCount && count == std::floor(count));
  return static_cast<std::uint8_t>(count);
}

}  // namespace

CountIndex::CountIndex(std::span<const CountsView> molecules) : columns_(kFingerprintBins) {
  for (const CountsView& molecule : molecules) {
    double sum = 0;
    for (std::size_t k = 0; k < molecule.column.size(); ++k) {
      const std::uint8_t count = whole(molecule.count[k]);
      columns_[molecule.column[k]].entries.push_back({static_cast<std::uint32_t>(total_.size()), count});
      sum += count;
    }
    total_.push_back(sum);
  }
  for (Column& column : columns_) {
    if (column.entries.size() * sizeof(Entry) < size()) {
      column.entries.shrink_to_fit();
      continue;
    }
    column.counts.resize(size());
    for (const Entry& entry : column.entries) column.counts[entry.molecule] = static_cast<std::uint8_t>(entry.count);
    column.entries = {};
  }
}

void CountIndex::similarities(const CountsView& molecule, std::span<double> to, bool avx2) const {
  assert(to.size() == size());
  std::vector<std::uint32_t> overlap(size());
  double molecule_total = 0;
  for (std::size_t k = 0; k < molecule.column.size(); ++k) {
    const std::uint8_t count = whole(molecule.count[k]);
    molecule_total += count;
    const Column& column = columns_[molecule.column[k]];
    for (const Entry& entry : column.entries) overlap[entry.molecule] += std::min<std::uint32_t>(count, entry.count);
    if (column.counts.empty()) continue;
    if (avx2) add_minima_avx2(count, column.counts.data(), size(), overlap.data());
    else add_minima(count, column.counts.data(), size(), overlap.data());
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double sum_of_maxima = molecule_total + total_[i] - overlap[i];
    to[i] = sum_of_maxima > 0 ? overlap[i] / sum_of_maxima : 0;
  }
}

}  // namespace molgraph
