// Matrix products, by these kernels or, if they are wide, by cublasLt.
#pragma once

#include <algorithm>
#include <vector>

#include "attention/cuda/gpu/library_product.hpp"
#include "attention/cuda/kernels/product.cuh"

namespace molgraph::cuda {

/// Products by these kernels or, if they are wide, by the library.
template <class E>
class Products {
 public:
  Products(Stream stream, Precision precision) : stream_(stream), precision_(precision), library_(precision) {}
  void operator()(const Product<E>& product) {
    if (!by_library(product)) multiply(stream_, precision_, product);
  }
  /// Computes all products together, by these kernels.
  void operator()(WeightGradients<E> group, const std::vector<typename WeightGradients<E>::One>& all) const {
    constexpr std::size_t kEach = WeightGradients<E>::kPerLaunch;
    for (std::size_t first = 0; first < all.size(); first += kEach) {
      const std::size_t count = std::min(kEach, all.size() - first);
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), count, group.of);
      multiply<E>(stream_, precision_, group, static_cast<int>(count));
    }
  }

  /// Below this size, a product ends before the library's tiles are full.
  static constexpr int kWide = 256;
  /// Returns true if LayerNorms of this width can be part of a product.
  static bool has_whole_rows(int width) { return width <= (width % 80 == 0 ? 80 : 64); }

 private:
  bool by_library(const Product<E>& p) {
    if (p.columns < kWide || p.rows < kWide || p.depth < kWide || p.slices > 1) return false;
    const bool plain = p.y == nullptr && p.bias == nullptr && !p.gelu && p.slope == nullptr && p.factor == nullptr;
    float* raw = plain ? p.y32 : raw_.sized(static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.columns));
    const LibraryProduct task{.a = p.a,
                              .b = p.b,
                              .a_row = p.a_row,
                              .a_depth = p.a_depth,
                              .b_column = p.b_column,
                              .b_depth = p.b_depth,
                              .rows = p.rows,
                              .columns = p.columns,
                              .depth = p.depth,
                              .y = raw};
    if (!library_.multiply(stream_, task)) return false;
    if (!plain)
      launch(stream_, finish_kernel<E>,
             blocks_for(static_cast<std::int64_t>(p.rows) * ((p.columns + 7) / 8), kFinishThreads), kFinishThreads, 0,
             p, raw);
    if (p.row_sums != nullptr)
      launch(stream_, row_sums_kernel<E>, blocks_for(p.rows, 32), kRowSumThreads, kRowSumThreads * sizeof(float), p);
    return true;
  }

  Stream stream_;
  Precision precision_;
  ProductLibrary library_;
  Array<float> raw_;
};

}  // namespace molgraph::cuda
