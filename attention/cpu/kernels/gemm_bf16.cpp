#include "attention/cpu/kernels/gemm_bf16.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define MOLGRAPH_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#endif

namespace molgraph::cpu {

#if defined(__x86_64__)

Bf16Products bf16_products() {
  if (__builtin_cpu_supports("avx512bf16") == 0 || __builtin_cpu_supports("avx512bw") == 0) return Bf16Products::none;
  return __builtin_cpu_is("amd") != 0 ? Bf16Products::fast : Bf16Products::slow;
}

namespace {

// Sixteen rounded numbers, one per 32-bit lane.
MOLGRAPH_BF16 inline __m512i rounded(const float* x) {
  return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x)));
}

}  // namespace

MOLGRAPH_BF16 void pack_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                             std::uint16_t* out) {
  assert(columns % kBlock == 0);
  const std::size_t blocks = columns / kBlock;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p) * kBlock;
    for (std::size_t k = 0; k < rows; k += 2)
      for (std::size_t c = 0; c < width; c += kBlock, out += 2 * kBlock) {
        __m512i pairs = rounded(x + k * stride + c);
        if (k + 1 < rows) pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(rounded(x + (k + 1) * stride + c), 16));
        _mm512_storeu_si512(out, pairs);
      }
    x += width;
  }
}

namespace {

MOLGRAPH_BF16 void round_rows(const Gemm& g, std::size_t row, std::uint16_t* out) {
  for (std::size_t r = 0; r < g.rows; ++r)
    for (std::size_t k = 0; k < row; k += kBlock) {
      const std::size_t left = k < g.depth ? g.depth - k : 0;
      const auto mask = static_cast<__mmask16>(left >= kBlock ? 0xFFFF : (1u << left) - 1);
      const __m256bh numbers = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, g.a + r * g.a_stride + k));
      std::memcpy(out + r * row + k, &numbers, sizeof(numbers));
    }
}

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

// y [rows, columns] = or += a * all panels of b.
template <bool kAccumulate>
void all_panels(const Left& a, std::size_t rows, const std::uint16_t* b, std::size_t pairs, std::size_t columns,
                const float* bias, float* y, std::size_t y_stride) {
  const std::size_t blocks = columns / kBlock;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p);
    switch (width) {
      case 5: panel<5, kAccumulate>(a, rows, b, pairs, bias, y, y_stride); break;
      case 4: panel<4, kAccumulate>(a, rows, b, pairs, bias, y, y_stride); break;
      case 3: panel<3, kAccumulate>(a, rows, b, pairs, bias, y, y_stride); break;
      case 2: panel<2, kAccumulate>(a, rows, b, pairs, bias, y, y_stride); break;
      default: panel<1, kAccumulate>(a, rows, b, pairs, bias, y, y_stride); break;
    }
    b += 2 * pairs * width * kBlock;
    y += width * kBlock;
    if (bias != nullptr) bias += width * kBlock;
  }
}

}  // namespace

void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch) {
  const std::size_t row = (g.depth + 31) / 32 * 32;
  round_rows(g, row, scratch);
  all_panels<false>({scratch, row, 2}, g.rows, weights, (g.depth + 1) / 2, g.columns, g.bias, g.y, g.y_stride);
}

void weight_gradient_bf16(const WeightGradient& g, std::uint16_t* scratch) {
  const std::size_t blocks = padded(g.depth) / kBlock, pairs = (g.rows + 1) / 2;
  std::uint16_t* y = scratch + bf16_panels_size(g.rows, padded(g.depth));
  pack_bf16(g.a, g.a_stride, g.rows, padded(g.depth), scratch);
  pack_bf16(g.y, g.y_stride, g.rows, g.columns, y);
  std::size_t first = 0;  // channel of a = row of the weights
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p) * kBlock;
    all_panels<true>({scratch + 2 * pairs * first, 2, 2 * width}, std::min(width, g.depth - first), y, pairs, g.columns,
                     nullptr, g.weights + first * g.columns, g.columns);
    first += width;
  }
}

#else

Bf16Products bf16_products() { return Bf16Products::none; }
void pack_bf16(const float*, std::size_t, std::size_t, std::size_t, std::uint16_t*) { std::abort(); }
void gemm_bf16(const Gemm&, const std::uint16_t*, std::uint16_t*) { std::abort(); }
void weight_gradient_bf16(const WeightGradient&, std::uint16_t*) { std::abort(); }

#endif

}  // namespace molgraph::cpu
