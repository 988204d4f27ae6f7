#include "graphormer/attention/cpu/gemm_bf16.hpp"

#include <bit>
#include <cassert>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define MOLGRAPH_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#endif

namespace molgraph::cpu {
namespace {

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace

std::vector<std::uint16_t> pack_weights_bf16(const float* weights, std::size_t depth, std::size_t columns) {
  assert(columns % kBlock == 0);
  const std::size_t pairs = (depth + 1) / 2, blocks = columns / kBlock;
  std::vector<std::uint16_t> packed(2 * pairs * columns, 0);
  std::uint16_t* out = packed.data();
  std::size_t column = 0;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p) * kBlock;
    for (std::size_t k = 0; k < 2 * pairs; k += 2, out += 2 * width)
      for (std::size_t c = 0; c < width; ++c) {
        out[2 * c] = to_bf16(weights[k * columns + column + c]);
        if (k + 1 < depth) out[2 * c + 1] = to_bf16(weights[(k + 1) * columns + column + c]);
      }
    column += width;
  }
  return packed;
}

#if defined(__x86_64__)

bool has_bf16() { return __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512bw") != 0; }

namespace {

MOLGRAPH_BF16 void round_rows(const Gemm& g, std::uint16_t* out) {
  const std::size_t row = bf16_row(g.depth);
  for (std::size_t r = 0; r < g.rows; ++r)
    for (std::size_t k = 0; k < row; k += kBlock) {
      const std::size_t left = k < g.depth ? g.depth - k : 0;
      const auto mask = static_cast<__mmask16>(left >= kBlock ? 0xFFFF : (1u << left) - 1);
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, g.a + r * g.a_stride + k));
      std::memcpy(out + r * row + k, &rounded, sizeof(rounded));
    }
}

// One tile of R rows and V blocks of columns.
template <int R, int V>
MOLGRAPH_BF16 inline void tile(const std::uint16_t* a, std::size_t a_stride, const std::uint16_t* b, std::size_t pairs,
                               const float* bias, float* y, std::size_t y_stride) {
  __m512 sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) sum[r][c] = bias != nullptr ? _mm512_loadu_ps(bias + c * kBlock) : _mm512_setzero_ps();
  for (std::size_t k = 0; k < pairs; ++k) {
    __m512i row[V];
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) row[c] = _mm512_loadu_si512(b + (k * V + static_cast<std::size_t>(c)) * 2 * kBlock);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      int pair = 0;
      std::memcpy(&pair, a + static_cast<std::size_t>(r) * a_stride + 2 * k, sizeof(pair));
      const __m512i factor = _mm512_set1_epi32(pair);
#pragma GCC unroll 8
      for (int c = 0; c < V; ++c)
        sum[r][c] = _mm512_dpbf16_ps(sum[r][c], (__m512bh)factor, (__m512bh)row[c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < V; ++c) _mm512_storeu_ps(y + static_cast<std::size_t>(r) * y_stride + c * kBlock, sum[r][c]);
}

template <int V>
MOLGRAPH_BF16 void panel(const std::uint16_t* a, std::size_t a_stride, std::size_t rows, const std::uint16_t* b,
                         std::size_t pairs, const float* bias, float* y, std::size_t y_stride) {
  std::size_t r = 0;
  for (; r + 5 <= rows; r += 5) tile<5, V>(a + r * a_stride, a_stride, b, pairs, bias, y + r * y_stride, y_stride);
  for (; r < rows; ++r) tile<1, V>(a + r * a_stride, a_stride, b, pairs, bias, y + r * y_stride, y_stride);
}

}  // namespace

void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch) {
  round_rows(g, scratch);
  const std::size_t blocks = g.columns / kBlock, pairs = (g.depth + 1) / 2, stride = bf16_row(g.depth);
  std::size_t column = 0;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p);
    const std::uint16_t* b = weights + 2 * pairs * column;
    const float* bias = g.bias != nullptr ? g.bias + column : nullptr;
    float* y = g.y + column;
    switch (width) {
      case 5: panel<5>(scratch, stride, g.rows, b, pairs, bias, y, g.y_stride); break;
      case 4: panel<4>(scratch, stride, g.rows, b, pairs, bias, y, g.y_stride); break;
      case 3: panel<3>(scratch, stride, g.rows, b, pairs, bias, y, g.y_stride); break;
      case 2: panel<2>(scratch, stride, g.rows, b, pairs, bias, y, g.y_stride); break;
      default: panel<1>(scratch, stride, g.rows, b, pairs, bias, y, g.y_stride); break;
    }
    column += width * kBlock;
  }
}

#else

bool has_bf16() { return false; }
void gemm_bf16(const Gemm&, const std::uint16_t*, std::uint16_t*) { assert(false); }

#endif

}  // namespace molgraph::cpu
