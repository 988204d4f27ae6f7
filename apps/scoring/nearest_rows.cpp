#include "apps/scoring/nearest_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kColumns = 1024;  // rows of a block; its products with kQueries queries fit in the L2 cache
constexpr std::size_t kQueries = 64;    // per matrix product
constexpr float kLowest = std::numeric_limits<float>::lowest();

}  // namespace

NearestRows::NearestRows(std::size_t width) : width_(width) {}

void NearestRows::add(std::span<const float> row) {
  assert(row.size() == width_);
  rows_.insert(rows_.end(), row.begin(), row.end());
  if (size() % kColumns == 0) pack_block();
}

void NearestRows::finish() {
  if (size() > blocks_.size() * kColumns) pack_block();
}

/// Packs the rows that are not in a block yet.
void NearestRows::pack_block() {
  const std::size_t first = blocks_.size() * kColumns, count = size() - first;
  Block& block = blocks_.emplace_back();
  std::vector<float> columns(width_ * kColumns);
  block.bias.assign(kColumns, kLowest);
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows_.data() + (first + r) * width_;
    double square = 0;
    for (std::size_t c = 0; c < width_; ++c) {
      columns[c * kColumns + r] = row[c];
      square += static_cast<double>(row[c]) * row[c];
    }
    block.bias[r] = static_cast<float>(-square / 2);
  }
  block.packed.resize(columns.size());
  cpu::pack_weights(columns.data(), width_, kColumns, block.packed.data());
}

double NearestRows::distance(const float* query, std::size_t row) const {
  double square = 0;
  for (std::size_t c = 0; c < width_; ++c) {
    const double difference = static_cast<double>(query[c]) - rows_[row * width_ + c];
    square += difference * difference;
  }
  return std::sqrt(square);
}

std::vector<Neighbour> NearestRows::find(std::span<const float> queries) const { return search(queries, {}); }

std::vector<Neighbour> NearestRows::find_others(std::span<const std::size_t> rows) const {
  std::vector<float> queries;
  for (const std::size_t row : rows) {
    const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(row * width_);
    queries.insert(queries.end(), first, first + static_cast<std::ptrdiff_t>(width_));
  }
  return search(queries, rows);
}

std::vector<Neighbour> NearestRows::search(std::span<const float> queries, std::span<const std::size_t> skipped) const {
  assert(!blocks_.empty() && queries.size() % width_ == 0);
  const std::size_t count = queries.size() / width_;
  std::vector<Neighbour> found(count, {std::numeric_limits<double>::infinity(), 0});
  std::vector<float> products(kQueries * kColumns);
  for (std::size_t q = 0; q < count; q += kQueries) {
    const std::size_t num_queries = std::min(kQueries, count - q);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      cpu::Gemm product{.a = queries.data() + q * width_,
                        .a_stride = width_,
                        .rows = num_queries,
                        .depth = width_,
                        .weights = blocks_[b].packed.data(),
                        .columns = kColumns,
                        .bias = blocks_[b].bias.data(),
                        .y = products.data(),
                        .y_stride = kColumns,
                        .accumulate = false,
                        .prefetch = {}};
      cpu::kernels().gemm(product);
      for (std::size_t k = 0; k < num_queries; ++k) {
        float* row = products.data() + k * kColumns;
        if (!skipped.empty() && skipped[q + k] / kColumns == b) row[skipped[q + k] % kColumns] = kLowest;
        const std::size_t best = b * kColumns + static_cast<std::size_t>(std::max_element(row, row + kColumns) - row);
        if (best >= size() || (!skipped.empty() && best == skipped[q + k])) continue;  // no other row in the block
        const double exact = distance(queries.data() + (q + k) * width_, best);
        if (exact < found[q + k].distance) found[q + k] = {exact, best};
      }
    }
  }
  return found;
}

}  // namespace molgraph
