// Steps of the kernels in pair_states_bf16.cpp, for the n pairs of one query. Rows of numbers are bfloat16. An
// instruction adds the products of two neighbours, so a matrix that is summed over its rows has pairs of rows next to
// each other: [rows/2, columns, 2], with zeros after the last row. Only for x86.
#pragma once

#include <cstring>

#include "attention/cpu/kernels/bf16_vectors.hpp"
#include "attention/cpu/kernels/pair_states_bf16.hpp"
#include "attention/spec/pair_states.hpp"

namespace molgraph::cpu::pair_steps {

using Bits = std::uint16_t;

inline constexpr std::size_t kFeatures = 2 * kPairHeads;

inline std::size_t halved(std::size_t count) { return (count + 1) / 2; }

MOLGRAPH_BF16 inline __m512bh load(const Bits* p) { return (__m512bh)_mm512_loadu_si512(p); }
MOLGRAPH_BF16 inline __m256i load_half(const Bits* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
MOLGRAPH_BF16 inline void store(__m512i x, Bits* p) { _mm512_storeu_si512(p, x); }
MOLGRAPH_BF16 inline void store_half(__m256i x, Bits* p) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
/// Two numbers, 16 times; four numbers, 8 times.
MOLGRAPH_BF16 inline __m512bh two(const Bits* p) {
  int pair = 0;
  std::memcpy(&pair, p, sizeof(pair));
  return (__m512bh)_mm512_set1_epi32(pair);
}
MOLGRAPH_BF16 inline __m512bh four(const Bits* p) {
  long long pairs = 0;
  std::memcpy(&pairs, p, sizeof(pairs));
  return (__m512bh)_mm512_set1_epi64(pairs);
}
MOLGRAPH_BF16 inline __m512i rounded(__m512 low, __m512 high) { return (__m512i)_mm512_cvtne2ps_pbh(high, low); }
MOLGRAPH_BF16 inline __m512 zeros() { return _mm512_setzero_ps(); }

/// The quarters a, b, c, d of x: a and b interleaved, then c and d.
MOLGRAPH_BF16 inline __m512i quarters_interleaved(__m512i x) {
  alignas(64) static constexpr Bits kOrder[32] = {0,  8,  1,  9,  2,  10, 3,  11, 4,  12, 5,  13, 6,  14, 7,  15,
                                                  16, 24, 17, 25, 18, 26, 19, 27, 20, 28, 21, 29, 22, 30, 23, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(kOrder), x);
}
/// 16 numbers from `p`, or 8 and zeros.
MOLGRAPH_BF16 inline __m512 load_rows(const float* p, bool both) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(both ? 0xFFFF : 0xFF), p);
}
MOLGRAPH_BF16 inline void store_rows(__m512 x, float* p, bool both) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>(both ? 0xFFFF : 0xFF), x);
}

/// x [rows, width] -> [rows/2, width, 2], with zeros after the last row.
MOLGRAPH_BF16 inline void interleave_rows(const Bits* x, std::size_t rows, std::size_t width, Bits* out) {
  for (std::size_t r = 0; r < rows; r += 2)
    for (std::size_t c = 0; c < width; c += kBlock, out += 2 * kBlock) {
      const __m256i first = load_half(x + r * width + c),
                    second = r + 1 < rows ? load_half(x + (r + 1) * width + c) : _mm256_setzero_si256();
      store(interleaved(_mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1)), out);
    }
}

/// x [rows, columns of stride] -> [rows/2, padded columns, 2], with zeros.
MOLGRAPH_BF16 inline void round_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                                     Bits* out) {
  for (std::size_t r = 0; r < rows; r += 2)
    for (std::size_t c = 0; c < columns; c += kBlock, out += 2 * kBlock) {
      const float* at = x + r * stride + c;
      const bool full = c + kBlock <= columns;
      const __m512 low = load_rows(at, full), high = r + 1 < rows ? load_rows(at + stride, full) : zeros();
      store(interleaved(rounded(low, high)), out);
    }
}

/// x [rows, 8] -> the same order, and pairs of rows [rows/2, 8, 2].
MOLGRAPH_BF16 inline void round_heads(const float* x, std::size_t rows, Bits* by_row, Bits* by_pair) {
  for (std::size_t r = 0; r < rows; r += 2, by_row += kBlock, by_pair += kBlock) {
    const __m512i both = rounded(load_rows(x + r * kPairHeads, r + 1 < rows), zeros());
    store_half(_mm512_castsi512_si256(both), by_row);
    store_half(_mm512_castsi512_si256(quarters_interleaved(both)), by_pair);
  }
}

/// A product's left factor, transposed: pairs of rows, [pairs, row, 2]. Column k is at k * step.
struct Left {
  const Bits* at;
  std::size_t columns, row, step = 1;
  Left from(std::size_t column) const { return {at + 2 * column * step, columns - column, row, step}; }
};

/// out [K, stride] += left^T right, for K columns of `left` and V blocks of `right` ([pairs, right_row, 2]).
template <int K, int V>
MOLGRAPH_BF16 inline void add_outer_tile(const Left& left, const Bits* right, std::size_t right_row, std::size_t pairs,
                                         float* out, std::size_t stride) {
  __m512 sum[K][V];
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[k][v] = _mm512_loadu_ps(out + static_cast<std::size_t>(k) * stride + v * kBlock);
  for (std::size_t p = 0; p < pairs; ++p, right += 2 * right_row) {
    const Bits* factors = left.at + 2 * p * left.row;
    __m512bh x[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) x[v] = load(right + v * 2 * kBlock);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < K; ++k) {
      const __m512bh factor = two(factors + 2 * k * left.step);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[k][v] = _mm512_dpbf16_ps(sum[k][v], x[v], factor);
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) _mm512_storeu_ps(out + static_cast<std::size_t>(k) * stride + v * kBlock, sum[k][v]);
}
template <int V>
MOLGRAPH_BF16 void add_outer_blocks(const Left& left, const Bits* right, std::size_t right_row, std::size_t pairs,
                                    float* out, std::size_t stride) {
  std::size_t k = 0;
  for (; k + 8 <= left.columns; k += 8)
    add_outer_tile<8, V>(left.from(k), right, right_row, pairs, out + k * stride, stride);
  for (; k + 2 <= left.columns; k += 2)
    add_outer_tile<2, V>(left.from(k), right, right_row, pairs, out + k * stride, stride);
  if (k < left.columns) add_outer_tile<1, V>(left.from(k), right, right_row, pairs, out + k * stride, stride);
}
/// out [left.columns, width] += left^T right, `right` [pairs, right_row, 2].
MOLGRAPH_BF16 inline void add_outer(const Left& left, const Bits* right, std::size_t right_row, std::size_t width,
                                    std::size_t pairs, float* out) {
  std::size_t c = 0;
  for (; c + 2 * kBlock <= width; c += 2 * kBlock)
    add_outer_blocks<2>(left, right + 2 * c, right_row, pairs, out + c, width);
  if (c < width) add_outer_blocks<1>(left, right + 2 * c, right_row, pairs, out + c, width);
}

/// y [R, 8] = x [R, S] w [S/4, 8, 4].
template <int R>
MOLGRAPH_BF16 inline void to_heads(const Bits* x, std::size_t width, const Bits* w, float* y) {
  __m512 sum[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sum[r] = zeros();
  for (std::size_t s = 0; s < width; s += 4) {
    const __m512bh weight = load(w + s * kPairHeads);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[r] = _mm512_dpbf16_ps(sum[r], weight, four(x + static_cast<std::size_t>(r) * width + s));
  }
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
#pragma GCC unroll 4
  for (int r = 0; r < R; r += 2) {
    const __m512 next = r + 1 < R ? sum[(r + 1) % R] : zeros();
    store_rows(_mm512_add_ps(_mm512_permutex2var_ps(sum[r], even, next), _mm512_permutex2var_ps(sum[r], odd, next)),
               y + static_cast<std::size_t>(r) * kPairHeads, r + 1 < R);
  }
}
MOLGRAPH_BF16 inline void to_heads(const Bits* x, std::size_t rows, std::size_t width, const Bits* w, float* y) {
  std::size_t r = 0;
  for (; r + 8 <= rows; r += 8) to_heads<8>(x + r * width, width, w, y + r * kPairHeads);
  for (; r + 2 <= rows; r += 2) to_heads<2>(x + r * width, width, w, y + r * kPairHeads);
  if (r < rows) to_heads<1>(x + r * width, width, w, y + r * kPairHeads);
}

/// y [rows, S] = from + offset + x [rows, K, 2] w [K, S, 2]. The outputs that are null are not computed.
struct AddProduct {
  std::size_t rows = 0, width = 0;
  const Bits *x = nullptr, *w = nullptr;
  const float *from = nullptr, *offset = nullptr;  ///< [rows, S], [S]; without `offset`, it is 0
  float* y = nullptr;                              ///< may be `from`
  Bits *by_row = nullptr, *by_pair = nullptr;      ///< y rounded: [rows, S], and with it [rows/2, S, 2]
  float* sums = nullptr;                           ///< [S] += the sums of y over the rows; needs `by_pair`
};

/// The columns from c on, V blocks.
template <int K, int V>
MOLGRAPH_BF16 void add_product_blocks(const AddProduct& g, std::size_t c) {
  __m512bh weight[K][V];
  __m512 start[V], total[V];
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) weight[k][v] = load(g.w + (static_cast<std::size_t>(k) * g.width + c + v * kBlock) * 2);
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) {
    start[v] = g.offset == nullptr ? zeros() : _mm512_loadu_ps(g.offset + c + v * kBlock);
    total[v] = zeros();
  }
  for (std::size_t r = 0; r < g.rows; r += 2) {
    __m512 row[2][V];
#pragma GCC unroll 2
    for (std::size_t below = 0; below < 2; ++below) {
      if (r + below == g.rows) {
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) row[below][v] = zeros();
        break;
      }
      const Bits* factor = g.x + (r + below) * 2 * K;
      const std::size_t at = (r + below) * g.width + c;
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) row[below][v] = _mm512_add_ps(start[v], _mm512_loadu_ps(g.from + at + v * kBlock));
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k)
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) row[below][v] = _mm512_dpbf16_ps(row[below][v], weight[k][v], two(factor + 2 * k));
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) _mm512_storeu_ps(g.y + at + v * kBlock, row[below][v]);
    }
    if (g.by_row == nullptr) continue;
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      const __m512i both = rounded(row[0][v], row[1][v]);
      Bits* to = g.by_row + r * g.width + c + v * kBlock;
      store_half(_mm512_castsi512_si256(both), to);
      if (r + 1 < g.rows) store_half(_mm512_extracti64x4_epi64(both, 1), to + g.width);
      if (g.by_pair == nullptr) continue;
      store(interleaved(both), g.by_pair + (r / 2 * g.width + c + v * kBlock) * 2);
      total[v] = _mm512_add_ps(total[v], _mm512_add_ps(row[0][v], row[1][v]));
    }
  }
  if (g.sums == nullptr) return;
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) {
    float* to = g.sums + c + v * kBlock;
    _mm512_storeu_ps(to, _mm512_add_ps(total[v], _mm512_loadu_ps(to)));
  }
}
template <int K>
MOLGRAPH_BF16 void add_product(const AddProduct& g) {
  std::size_t c = 0;
  for (; c + 2 * kBlock <= g.width; c += 2 * kBlock) add_product_blocks<K, 2>(g, c);
  if (c < g.width) add_product_blocks<K, 1>(g, c);
}

/// by_row [n, 8, 2]: bounded(score) and kPairWeight * softmax of each head; by_pair [n/2, 16, 2]: all scores, then all
/// weights, in pairs of rows. Null = not needed.
MOLGRAPH_BF16 inline void pair_features(const float* scores, const float* softmax, std::size_t n, Bits* by_row,
                                        Bits* by_pair) {
  const __m512 share = _mm512_set1_ps(static_cast<float>(1 / kPairBound)), one = _mm512_set1_ps(1.0f),
               factor = _mm512_set1_ps(static_cast<float>(kPairWeight));
  for (std::size_t r = 0; r < n; r += 2) {
    const bool both = r + 1 < n;
    const __m512 s = load_rows(scores + r * kPairHeads, both), a = load_rows(softmax + r * kPairHeads, both);
    const __m512i x =
        rounded(_mm512_div_ps(s, _mm512_fmadd_ps(_mm512_abs_ps(s), share, one)), _mm512_mul_ps(a, factor));
    if (by_row != nullptr) store(interleaved(x), by_row + r * kFeatures);
    if (by_pair != nullptr) store(quarters_interleaved(x), by_pair + r * kFeatures);
  }
}

/// Backward pass of the features of R rows: their gradient de [R, S] update_back, and from it those of scores and
/// softmax.
template <int R>
MOLGRAPH_BF16 inline void features_back_tile(const Bits* de, std::size_t width, const Bits* update_back,
                                             const float* scores, float* dscores, float* dsoftmax) {
  __m512 sum[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sum[r] = zeros();
  for (std::size_t s = 0; s < width; s += 2) {
    const __m512bh weight = load(update_back + s * kFeatures);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[r] = _mm512_dpbf16_ps(sum[r], weight, two(de + static_cast<std::size_t>(r) * width + s));
  }
  const __m512 share = _mm512_set1_ps(static_cast<float>(1 / kPairBound)), one = _mm512_set1_ps(1.0f),
               factor = _mm512_set1_ps(static_cast<float>(kPairWeight));
#pragma GCC unroll 4
  for (int r = 0; r < R; r += 2) {
    const bool both = r + 1 < R;
    const std::size_t at = static_cast<std::size_t>(r) * kPairHeads;
    const __m512 next = both ? sum[(r + 1) % R] : zeros();
    const __m512 bounded_slope = _mm512_shuffle_f32x4(sum[r], next, 0x44),
                 weight_slope = _mm512_shuffle_f32x4(sum[r], next, 0xEE);
    const __m512 divisor = _mm512_fmadd_ps(_mm512_abs_ps(load_rows(scores + at, both)), share, one);
    store_rows(_mm512_div_ps(bounded_slope, _mm512_mul_ps(divisor, divisor)), dscores + at, both);
    store_rows(_mm512_mul_ps(weight_slope, factor), dsoftmax + at, both);
  }
}

MOLGRAPH_BF16 inline void features_back(const Bits* de, std::size_t n, std::size_t width, const Bits* update_back,
                                        const float* scores, float* dscores, float* dsoftmax) {
  std::size_t r = 0, h = 0;
  for (; r + 8 <= n; r += 8, h += 8 * kPairHeads)
    features_back_tile<8>(de + r * width, width, update_back, scores + h, dscores + h, dsoftmax + h);
  for (; r + 2 <= n; r += 2, h += 2 * kPairHeads)
    features_back_tile<2>(de + r * width, width, update_back, scores + h, dscores + h, dsoftmax + h);
  if (r < n) features_back_tile<1>(de + r * width, width, update_back, scores + h, dscores + h, dsoftmax + h);
}

/// z [d, 8] += the sums over s of read [8, S] value[8, S/2, padded d, 2], for 16 channels from `first` on.
MOLGRAPH_BF16 inline void add_values(const Bits* read, std::size_t width, const Bits* value, std::size_t head_width,
                                     std::size_t first, float* z) {
  const std::size_t row = 2 * padded(head_width);
  __m512 x[8], y[8];
#pragma GCC unroll 8
  for (int h = 0; h < 8; ++h) x[h] = zeros();
  for (std::size_t s = 0; s < width; s += 2)
#pragma GCC unroll 8
    for (std::size_t h = 0; h < 8; ++h)
      x[h] = _mm512_dpbf16_ps(x[h], load(value + (h * width + s) / 2 * row + 2 * first), two(read + h * width + s));
#pragma GCC unroll 4
  for (int h = 0; h < 8; h += 2) {  // transposes 4 x 4 blocks, 4 heads by 4 channels
    y[h] = _mm512_unpacklo_ps(x[h], x[h + 1]);
    y[h + 1] = _mm512_unpackhi_ps(x[h], x[h + 1]);
  }
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
#pragma GCC unroll 4
  for (std::size_t j = 0; j < 4; ++j) {  // channels 4l + j of lane l
    const __m512d a = _mm512_castps_pd(y[j / 2]), b = _mm512_castps_pd(y[2 + j / 2]),
                  c = _mm512_castps_pd(y[4 + j / 2]), d = _mm512_castps_pd(y[6 + j / 2]);
    const __m512d first_heads = j % 2 == 0 ? _mm512_unpacklo_pd(a, b) : _mm512_unpackhi_pd(a, b),
                  last_heads = j % 2 == 0 ? _mm512_unpacklo_pd(c, d) : _mm512_unpackhi_pd(c, d);
    const __m512 rows[2] = {_mm512_castpd_ps(_mm512_permutex2var_pd(first_heads, low, last_heads)),
                            _mm512_castpd_ps(_mm512_permutex2var_pd(first_heads, high, last_heads))};
#pragma GCC unroll 4
    for (std::size_t l = 0; l < 4; ++l) {
      const std::size_t u = first + 4 * l + j;
      if (u >= head_width) break;
      const __m256 sums = l % 2 == 0 ? _mm512_castps512_ps256(rows[l / 2]) : _mm512_extractf32x8_ps(rows[l / 2], 1);
      _mm256_storeu_ps(z + u * kPairHeads, _mm256_add_ps(sums, _mm256_loadu_ps(z + u * kPairHeads)));
    }
  }
}

/// dread [8, S] = the sums over the channels of dz [d, 8] value_back, rounded.
MOLGRAPH_BF16 inline void read_gradient(const float* dz, std::size_t head_width, const Bits* value_back,
                                        std::size_t width, Bits* pairs, Bits* dread) {
  for (std::size_t u = 0; u < head_width; u += 2) {  // pairs [d/2, 8, 2]
    const __m512i x = rounded(load_rows(dz + u * kPairHeads, u + 1 < head_width), zeros());
    store_half(_mm512_castsi512_si256(quarters_interleaved(x)), pairs + u * kPairHeads);
  }
  const std::size_t row = 2 * width, head = halved(head_width) * row;
  for (std::size_t c = 0; c < width; c += kBlock) {
    __m512 sum[8];
#pragma GCC unroll 8
    for (int h = 0; h < 8; ++h) sum[h] = zeros();
    for (std::size_t q = 0; q < halved(head_width); ++q)
#pragma GCC unroll 8
      for (std::size_t h = 0; h < 8; ++h)
        sum[h] = _mm512_dpbf16_ps(sum[h], load(value_back + h * head + q * row + 2 * c), two(pairs + (q * 8 + h) * 2));
#pragma GCC unroll 8
    for (std::size_t h = 0; h < 8; ++h) store_half((__m256i)_mm512_cvtneps_pbh(sum[h]), dread + h * width + c);
  }
}

/// x [8, S] -> [S/4, 8, 4].
inline void in_fours(const Bits* x, std::size_t width, Bits* out) {
  for (std::size_t s = 0; s < width; s += 4)
    for (std::size_t h = 0; h < kPairHeads; ++h, out += 4) std::memcpy(out, x + h * width + s, 4 * sizeof(Bits));
}

}  // namespace molgraph::cpu::pair_steps
