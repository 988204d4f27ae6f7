// Gradients of tables, many in one launch.
#pragma once

#include <algorithm>

#include "attention/cuda/kernels/tables.cuh"
#include "attention/cuda/pass.hpp"

namespace molgraph::cuda {

/// Sums `from` [entries, width] by id into a table's gradient.
inline TableGradient sum_by_id(const Weights& w, const float* from, std::int64_t entries, int width,
                               const std::int32_t* ids, int rows, std::int64_t to) {
  return {.from = from,
          .entries = entries,
          .width = width,
          .rows = rows,
          .slices = w.slices,
          .slice_stride = w.size,
          .out = w.gradient(to),
          .ids = ids};
}

/// Collects gradients of tables and computes them in few launches. No table may occur twice.
class TableGradients {
 public:
  explicit TableGradients(Stream stream) : stream_(stream) {}
  void add(const TableGradient& table) {
    group_.of[count_++] = table;
    if (count_ == kTablesPerLaunch) run();
  }
  void run() {
    dim3 grid(0, 0, static_cast<unsigned>(count_));
    unsigned threads = 32;  // at most the number of entries of a slice
    for (int k = 0; k < count_; ++k) {
      const TableGradient& table = group_.of[k];
      grid.x = std::max(grid.x, static_cast<unsigned>(table.rows));
      grid.y = std::max(grid.y, static_cast<unsigned>(table.slices));
      threads = std::max(threads, std::min(blocks_for(table.entries, table.slices * 32) * 32, unsigned{kSumThreads}));
    }
    launch(stream_, table_gradient_kernel, grid, threads, threads / 32 * kSumChannels * sizeof(float), group_);
    count_ = 0;
  }

 private:
  Stream stream_;
  TableGroup group_;
  int count_ = 0;
};

}  // namespace molgraph::cuda
