#include "attention/cpu/kernels/gemm_bf16.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include "attention/cpu/kernels/bf16_vectors.hpp"
#endif

namespace molgraph::cpu {

#if defined(__x86_64__)

Bf16Products bf16_products() {
  if (__builtin_cpu_supports("avx512bf16") == 0 || __builtin_cpu_supports("avx512bw") == 0 ||
      __builtin_cpu_supports("avx512dq") == 0 || __builtin_cpu_supports("avx512vl") == 0)
    return Bf16Products::none;
  if (has_tiles()) return Bf16Products::tiles;
  return __builtin_cpu_is("amd") != 0 ? Bf16Products::fast : Bf16Products::slow;
}

namespace {

MOLGRAPH_BF16 inline __m512 row_or_zeros(const float* x, std::size_t stride, std::size_t row, std::size_t rows) {
  return row < rows ? _mm512_loadu_ps(x + row * stride) : _mm512_setzero_ps();
}

// Rows k and k + 1 of x [rows, stride], rounded and interleaved.
MOLGRAPH_BF16 inline __m512i row_pair(const float* x, std::size_t stride, std::size_t k, std::size_t rows) {
  return interleaved(
      (__m512i)_mm512_cvtne2ps_pbh(row_or_zeros(x, stride, k + 1, rows), row_or_zeros(x, stride, k, rows)));
}

}  // namespace

MOLGRAPH_BF16 void pack_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                             std::uint16_t* out) {
  assert(columns % kBlock == 0);
  const std::size_t blocks = columns / kBlock;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p) * kBlock;
    for (std::size_t k = 0; k < tile_padded(rows); k += 2)
      for (std::size_t c = 0; c < width; c += kBlock, out += 2 * kBlock)
        _mm512_storeu_si512(out, row_pair(x + c, stride, k, rows));
    x += width;
  }
}

namespace {

// out [rows, tile_padded(depth)]: g.a, padded with zeros.
MOLGRAPH_BF16 void round_rows(const Gemm& g, std::uint16_t* out) {
  const std::size_t full = g.depth / kTileDepth * kTileDepth, rest = g.depth - full;
  const std::uint32_t kept = (std::uint32_t{1} << rest) - 1;
  const auto first = static_cast<__mmask16>(kept & 0xFFFF), second = static_cast<__mmask16>(kept >> 16);
  for (std::size_t r = 0; r < g.rows; ++r) {
    const float* x = g.a + r * g.a_stride;
    for (std::size_t k = 0; k < full; k += kTileDepth, out += kTileDepth)
      _mm512_storeu_si512(out, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + k + kBlock), _mm512_loadu_ps(x + k)));
    if (rest == 0) continue;
    const __m512 low = _mm512_maskz_loadu_ps(first, x + full), high = _mm512_maskz_loadu_ps(second, x + full + kBlock);
    _mm512_storeu_si512(out, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    out += kTileDepth;
  }
}

// Transposes a 16 x 16 matrix of 32-bit elements.
MOLGRAPH_BF16 inline void transpose(__m512i (&x)[16]) {
  __m512i y[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // lane l of x[i + j]: element 4l + j of rows i to i + 3
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i a = _mm512_shuffle_i32x4(x[j], x[j + 4], 0x44), b = _mm512_shuffle_i32x4(x[j], x[j + 4], 0xEE);
    const __m512i c = _mm512_shuffle_i32x4(x[j + 8], x[j + 12], 0x44),
                  d = _mm512_shuffle_i32x4(x[j + 8], x[j + 12], 0xEE);
    y[j] = _mm512_shuffle_i32x4(a, c, 0x88);
    y[j + 4] = _mm512_shuffle_i32x4(a, c, 0xDD);
    y[j + 8] = _mm512_shuffle_i32x4(b, d, 0x88);
    y[j + 12] = _mm512_shuffle_i32x4(b, d, 0xDD);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) x[i] = y[i];
}

}  // namespace

MOLGRAPH_BF16 void pack_transposed_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                                        std::uint16_t* out) {
  assert(columns % kBlock == 0);
  const std::size_t depth = tile_padded(rows);
  for (std::size_t c = 0; c < columns; c += kBlock)
    for (std::size_t k = 0; k < depth; k += kTileDepth) {
      __m512i pairs[16];
#pragma GCC unroll 16
      for (std::size_t i = 0; i < 16; ++i) pairs[i] = row_pair(x + c, stride, k + 2 * i, rows);
      transpose(pairs);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < 16; ++i) _mm512_storeu_si512(out + (c + i) * depth + k, pairs[i]);
    }
}

namespace {

/// The left factor: pair k of row r is at `at + r * row + k * pair`.
struct Left {
  const std::uint16_t* at;
  std::size_t row, pair;
  Left below(std::size_t rows) const { return {at + rows * row, row, pair}; }
};

// Computes one tile of R rows and V blocks of columns; b is a panel of pack_bf16().
template <int R, int V, bool kAccumulate>
MOLGRAPH_BF16 inline void tile(const Left& a, const std::uint16_t* b, std::size_t pairs, const float* bias, float* y,
                               std::size_t y_stride) {
  __m512 sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) {
      if constexpr (kAccumulate) sum[r][c] = _mm512_loadu_ps(y + static_cast<std::size_t>(r) * y_stride + c * kBlock);
      else sum[r][c] = bias != nullptr ? _mm512_loadu_ps(bias + c * kBlock) : _mm512_setzero_ps();
    }
  for (std::size_t k = 0; k < pairs; ++k) {
    __m512i row[V];
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) row[c] = _mm512_loadu_si512(b + (k * V + static_cast<std::size_t>(c)) * 2 * kBlock);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      int pair = 0;
      std::memcpy(&pair, a.at + static_cast<std::size_t>(r) * a.row + k * a.pair, sizeof(pair));
      const __m512i factor = _mm512_set1_epi32(pair);
#pragma GCC unroll 8
      for (int c = 0; c < V; ++c) sum[r][c] = _mm512_dpbf16_ps(sum[r][c], (__m512bh)factor, (__m512bh)row[c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) _mm512_storeu_ps(y + static_cast<std::size_t>(r) * y_stride + c * kBlock, sum[r][c]);
}

// Computes all rows of a panel of V blocks: tiles of five rows, then one tile of the remaining rows.
template <int V, bool kAccumulate>
MOLGRAPH_BF16 void panel(Left a, std::size_t rows, const std::uint16_t* b, std::size_t pairs, const float* bias,
                         float* y, std::size_t y_stride) {
  for (; rows >= 5; rows -= 5, a = a.below(5), y += 5 * y_stride)
    tile<5, V, kAccumulate>(a, b, pairs, bias, y, y_stride);
  switch (rows) {
    case 4: return tile<4, V, kAccumulate>(a, b, pairs, bias, y, y_stride);
    case 3: return tile<3, V, kAccumulate>(a, b, pairs, bias, y, y_stride);
    case 2: return tile<2, V, kAccumulate>(a, b, pairs, bias, y, y_stride);
    case 1: return tile<1, V, kAccumulate>(a, b, pairs, bias, y, y_stride);
    default: return;
  }
}

// y [rows, columns] = or += a [rows, depth] * all panels of b.
template <bool kAccumulate>
void all_panels(const Left& a, std::size_t rows, const std::uint16_t* b, std::size_t depth, std::size_t columns,
                const float* bias, float* y, std::size_t y_stride) {
  const std::size_t blocks = columns / kBlock, pairs = (depth + 1) / 2;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p);
    with_blocks(width, [&](auto v) { panel<decltype(v)::value, kAccumulate>(a, rows, b, pairs, bias, y, y_stride); });
    b += tile_padded(depth) * width * kBlock;
    y += width * kBlock;
    if (bias != nullptr) bias += width * kBlock;
  }
}

}  // namespace

void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch, bool tiles) {
  const std::size_t row = tile_padded(g.depth);
  round_rows(g, scratch);
  if (tiles) multiply_on_tiles({scratch, g.rows, row / kTileDepth, weights, g.columns, g.bias, g.y, g.y_stride});
  else all_panels<false>({scratch, row, 2}, g.rows, weights, g.depth, g.columns, g.bias, g.y, g.y_stride);
}

void weight_gradient_bf16(const WeightGradient& g, std::uint16_t* scratch, bool tiles) {
  const std::size_t blocks = padded(g.depth) / kBlock, depth = tile_padded(g.rows);
  std::uint16_t* y = scratch + bf16_panels_size(g.rows, padded(g.depth));
  pack_bf16(g.y, g.y_stride, g.rows, g.columns, y);
  if (tiles) {
    pack_transposed_bf16(g.a, g.a_stride, g.rows, padded(g.depth), scratch);
    return accumulate_on_tiles({scratch, g.depth, depth / kTileDepth, y, g.columns, nullptr, g.weights, g.columns});
  }
  pack_bf16(g.a, g.a_stride, g.rows, padded(g.depth), scratch);
  std::size_t first = 0;  // channel of a = row of the weights
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p) * kBlock;
    all_panels<true>({scratch + depth * first, 2, 2 * width}, std::min(width, g.depth - first), y, g.rows, g.columns,
                     nullptr, g.weights + first * g.columns, g.columns);
    first += width;
  }
}

#else

Bf16Products bf16_products() { return Bf16Products::none; }
void pack_bf16(const float*, std::size_t, std::size_t, std::size_t, std::uint16_t*) { std::abort(); }
void pack_transposed_bf16(const float*, std::size_t, std::size_t, std::size_t, std::uint16_t*) { std::abort(); }
void gemm_bf16(const Gemm&, const std::uint16_t*, std::uint16_t*, bool) { std::abort(); }
void weight_gradient_bf16(const WeightGradient&, std::uint16_t*, bool) { std::abort(); }

#endif

}  // namespace molgraph::cpu
