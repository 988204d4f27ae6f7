// Register-blocked matrix products.
//     gemm: y [rows, columns] (+)= a [rows, depth] * weights [depth, columns] (+ bias [columns])
//     weight_gradient: weights [depth, columns] += a [rows, depth]^T * y [rows, columns]
// A tile of a few rows times a panel of up to five blocks of columns stays in registers during the loop over the depth.
#if defined(MOLGRAPH_CPU_GEMM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_GEMM_INL
#undef MOLGRAPH_CPU_GEMM_INL
#else
#define MOLGRAPH_CPU_GEMM_INL
#endif

#include <algorithm>

#include "attention/cpu/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

// Rows of one register tile of V vectors: as many as possible while a row of the weights and one factor also fit into
// registers.
template <int V>
constexpr int tile_rows() {
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM  // 32 registers
  return V >= 5 ? 5 : V == 4 ? 6 : 8;
#else
  return V >= 4 ? 2 : V == 2 ? 6 : 4;
#endif
}

// Computes one tile: y[R, V vectors] = a[R, depth] * b[depth, V vectors]. Transposed: a is [depth, R].
template <int R, int V, bool kTransposed, bool kAccumulate>
HWY_INLINE void tile(const float* HWY_RESTRICT a, std::size_t a_stride, const float* HWY_RESTRICT b,
                     std::size_t b_stride, std::size_t depth, const float* HWY_RESTRICT bias, float* HWY_RESTRICT y,
                     std::size_t y_stride) {
  const Tag tag;
  Vec sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) {
      if constexpr (kAccumulate) sum[r][c] = hn::LoadU(tag, y + r * y_stride + c * kLanes);
      else sum[r][c] = bias != nullptr ? hn::LoadU(tag, bias + c * kLanes) : hn::Zero(tag);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    Vec row[V];
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) row[c] = hn::LoadU(tag, b + k * b_stride + c * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec factor = hn::Set(tag, kTransposed ? a[k * a_stride + r] : a[r * a_stride + k]);
#pragma GCC unroll 8
      for (int c = 0; c < V; ++c) sum[r][c] = hn::MulAdd(factor, row[c], sum[r][c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) hn::StoreU(sum[r][c], tag, y + r * y_stride + c * kLanes);
  }
}

// Computes the remaining rows, fewer than a full tile.
template <int R, int V, bool kTransposed, bool kAccumulate>
HWY_INLINE void last_rows(std::size_t rows, const float* a, std::size_t a_stride, const float* b, std::size_t b_stride,
                          std::size_t depth, const float* bias, float* y, std::size_t y_stride) {
  if constexpr (R > 0) {
    if (rows == R) tile<R, V, kTransposed, kAccumulate>(a, a_stride, b, b_stride, depth, bias, y, y_stride);
    else last_rows<R - 1, V, kTransposed, kAccumulate>(rows, a, a_stride, b, b_stride, depth, bias, y, y_stride);
  }
}

// Prefetches a `PrefetchRange` in pieces, one piece per tile.
class Fetcher {
 public:
  Fetcher(const PrefetchRange& prefetch, std::size_t tiles)
      : next_(prefetch.data), end_(prefetch.data + prefetch.floats),
        step_((prefetch.floats / kBlock + tiles) / std::max<std::size_t>(tiles, 1) * kBlock) {}
  HWY_INLINE void fetch() {
    const float* stop = next_ + std::min<std::size_t>(step_, static_cast<std::size_t>(end_ - next_));
    for (; next_ < stop; next_ += kBlock) __builtin_prefetch(next_, 0, 2);
  }

 private:
  const float *next_, *end_;
  std::size_t step_;
};

// Computes all rows of a panel of V vectors.
template <int V, bool kTransposed, bool kAccumulate>
HWY_NOINLINE void panel(const float* a, std::size_t a_stride, std::size_t rows, const float* b, std::size_t b_stride,
                        std::size_t depth, const float* bias, float* y, std::size_t y_stride, Fetcher& fetcher) {
  constexpr int R = tile_rows<V>();
  const std::size_t step = kTransposed ? 1 : a_stride;  // offset in `a` between two rows of the result
  std::size_t r = 0;
  for (; r + R <= rows; r += R) {
    fetcher.fetch();
    if constexpr (kAccumulate) {  // the sums of the next tile are not in the cache
      for (std::size_t next = r + R; next < std::min(r + 2 * R, rows); ++next)
        for (std::size_t c = 0; c < V * kLanes; c += kBlock) __builtin_prefetch(y + next * y_stride + c, 1, 3);
    }
    tile<R, V, kTransposed, kAccumulate>(a + r * step, a_stride, b, b_stride, depth, bias, y + r * y_stride, y_stride);
  }
  if (r < rows)
    last_rows<R - 1, V, kTransposed, kAccumulate>(rows - r, a + r * step, a_stride, b, b_stride, depth, bias,
                                                  y + r * y_stride, y_stride);
}

// Computes a panel of `blocks` blocks: together if there are enough registers, else block by block.
template <bool kTransposed, bool kAccumulate>
void wide_panel(std::size_t blocks, const float* a, std::size_t a_stride, std::size_t rows, const float* b,
                std::size_t b_stride, std::size_t depth, const float* bias, float* y, std::size_t y_stride,
                Fetcher& fetcher) {
  if constexpr (kLanes == kBlock) {
    switch (blocks) {
      case 5:
        return panel<5, kTransposed, kAccumulate>(a, a_stride, rows, b, b_stride, depth, bias, y, y_stride, fetcher);
      case 4:
        return panel<4, kTransposed, kAccumulate>(a, a_stride, rows, b, b_stride, depth, bias, y, y_stride, fetcher);
      case 3:
        return panel<3, kTransposed, kAccumulate>(a, a_stride, rows, b, b_stride, depth, bias, y, y_stride, fetcher);
      case 2:
        return panel<2, kTransposed, kAccumulate>(a, a_stride, rows, b, b_stride, depth, bias, y, y_stride, fetcher);
      default:
        return panel<1, kTransposed, kAccumulate>(a, a_stride, rows, b, b_stride, depth, bias, y, y_stride, fetcher);
    }
  } else {
    for (std::size_t k = 0; k < blocks; ++k)
      panel<kVectorsPerBlock, kTransposed, kAccumulate>(a, a_stride, rows, b + k * kBlock, b_stride, depth,
                                                        bias != nullptr ? bias + k * kBlock : nullptr, y + k * kBlock,
                                                        y_stride, fetcher);
  }
}

// Approximate number of tiles of a product.
inline std::size_t tile_count(std::size_t rows, std::size_t blocks) { return rows / 5 * panel_count(blocks); }

void gemm(const Gemm& g) {
  const std::size_t blocks = g.columns / kBlock;
  Fetcher fetcher(g.prefetch, tile_count(g.rows, blocks));
  std::size_t first = 0;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p), column = first * kBlock;
    const float* weights = g.weights + g.depth * column;
    if (g.accumulate)
      wide_panel<false, true>(width, g.a, g.a_stride, g.rows, weights, width * kBlock, g.depth, nullptr, g.y + column,
                              g.y_stride, fetcher);
    else
      wide_panel<false, false>(width, g.a, g.a_stride, g.rows, weights, width * kBlock, g.depth,
                               g.bias != nullptr ? g.bias + column : nullptr, g.y + column, g.y_stride, fetcher);
    first += width;
  }
}

// Number of rows of a panel of y that stay in the first-level cache.
inline constexpr std::size_t kGradientRows = 128;

void weight_gradient(const WeightGradient& g) {
  const std::size_t blocks = g.columns / kBlock;
  Fetcher fetcher(g.prefetch, tile_count(g.depth, blocks) * ((g.rows + kGradientRows - 1) / kGradientRows));
  std::size_t first = 0;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p), column = first * kBlock;
    for (std::size_t row = 0; row < g.rows; row += kGradientRows)
      wide_panel<true, true>(width, g.a + row * g.a_stride, g.a_stride, g.depth, g.y + row * g.y_stride + column,
                             g.y_stride, std::min(kGradientRows, g.rows - row), nullptr, g.weights + column, g.columns,
                             fetcher);
    first += width;
  }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
