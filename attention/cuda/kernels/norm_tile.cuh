// LayerNorm on the accumulators of a product whose blocks have whole rows: the operations of rows.cuh without the
// detour through memory.
//
// A warp has 16 rows in the layout of mma.sync: in lane 4*g + t, c[n][2*r + x] is row g + 8*r, column 8*n + 2*t + x. So
// the four lanes of a quad share a row.
#pragma once

#include "attention/cuda/kernels/rows.cuh"

namespace molgraph::cuda {

/// Returns the sum over the four lanes of a quad, with the same bits in all of them.
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}

/// Returns which of the lane's channels of a row dropout keeps: bit 2*n + x. All lanes of a warp must call it, those of
/// a quad with the same row.
template <int NT>
__device__ __forceinline__ std::uint32_t kept_channels(const Dropout& dropout, const TokenPlace& token, int width) {
  static_assert(NT <= 12, "whole groups of four in 32 bits");
  if (dropout.threshold == 0) return 0xFFFFFFFFu;
  const std::uint32_t t = threadIdx.x % 4, row = token.index * static_cast<std::uint32_t>(width);
  std::uint32_t kept = 0, words[4];
  if (width % 8 == 0) {  // a block of draws covers eight channels: each lane of the quad computes every fourth block
    for (std::uint32_t first = 0; first < NT; first += 4) {
      const std::uint32_t own = kept_block(dropout, token.row, row / 8 + first + t);
      for (std::uint32_t other = 0; other < 4; ++other) {
        const std::uint32_t all = other == 0 ? own : __shfl_xor_sync(0xFFFFFFFFu, own, static_cast<int>(other));
        kept |= (all >> (2 * t) & 3u) << 2 * (first + (t ^ other));
      }
    }
    return kept;
  }
  for (std::uint32_t n = 0; n < NT; ++n)
    for (std::uint32_t x = 0; x < 2; ++x) {
      const std::uint32_t element = row + 8 * n + 2 * t + x;
      draw_block(*dropout.key, token.row, dropout.place, element / 8, words);
      kept |= static_cast<std::uint32_t>(pick_draw(words, element) >= dropout.threshold) << (2 * n + x);
    }
  return kept;
}

/// The lane's channels of a row: x[2*n + k] is channel 8*n + 2*t + k, zero beyond the width. Width 0: no loads.
template <int NT>
__device__ __forceinline__ void load_channels(const float* row, int width, float (&x)[2 * NT]) {
  const int t = static_cast<int>(threadIdx.x % 4);
#pragma unroll
  for (int n = 0; n < NT; ++n) {
    const int channel = 8 * n + 2 * t;
    float2 two{0, 0};
    if (width % 2 == 0) {  // aligned
      if (channel < width) two = *reinterpret_cast<const float2*>(row + channel);
    } else {
      if (channel < width) two.x = row[channel];
      if (channel + 1 < width) two.y = row[channel + 1];
    }
    x[2 * n] = two.x, x[2 * n + 1] = two.y;
  }
}
template <class E, int NT>
__device__ __forceinline__ void store_channels(E* row, int width, const float (&x)[2 * NT]) {
  const int t = static_cast<int>(threadIdx.x % 4);
  struct alignas(2 * sizeof(E)) Two {
    E first, second;
  };
#pragma unroll
  for (int n = 0; n < NT; ++n) {
    const int channel = 8 * n + 2 * t;
    const Two two{from_float<E>(x[2 * n]), from_float<E>(x[2 * n + 1])};
    if (width % 2 == 0) {  // aligned
      if (channel < width) *reinterpret_cast<Two*>(row + channel) = two;
    } else {
      if (channel < width) row[channel] = two.first;
      if (channel + 1 < width) row[channel + 1] = two.second;
    }
  }
}
/// residual_norm() of the branch c + bias, for this warp's rows, which begin at `row`.
template <class E, int NT>
__device__ __forceinline__ void residual_norm_tile(const ResidualNorm<E>& p, const float* bias, int row,
                                                   float (*c)[4]) {
  const int lane = static_cast<int>(threadIdx.x % 32), t = lane % 4;
  float branch_bias[2 * NT] = {}, weight[2 * NT], norm_bias[2 * NT], value[2][2 * NT];
  if (bias != nullptr) load_channels<NT>(bias, p.width, branch_bias);
  if (p.weight != nullptr) {
    load_channels<NT>(p.weight, p.width, weight);
    load_channels<NT>(p.bias, p.width, norm_bias);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int m = row + lane / 4 + 8 * r;
    load_channels<NT>(p.x + static_cast<std::int64_t>(m) * p.width, m < p.rows ? p.width : 0, value[r]);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int m = row + lane / 4 + 8 * r;
    const bool there = m < p.rows;  // all lanes take part in the sums
    const std::uint32_t kept = kept_channels<NT>(p.dropout, there ? p.token[m] : TokenPlace{}, p.width);
    float total = 0;
#pragma unroll
    for (int k = 0; k < 2 * NT; ++k) {
      const float keep = (kept >> k & 1) != 0 ? p.dropout.scale : 0.0f;
      value[r][k] += keep * (c[k / 2][2 * r + k % 2] + branch_bias[k]);  // zero beyond the width
      total += value[r][k];
    }
    const std::int64_t first = static_cast<std::int64_t>(m) * p.width;
    if (there) store_channels<float, NT>(p.sum + first, p.width, value[r]);
    if (p.weight == nullptr) continue;
    const float mean = quad_sum(total) / static_cast<float>(p.width);
    float square = 0;
#pragma unroll
    for (int k = 0; k < 2 * NT; ++k) {
      const float off = value[r][k] - mean;
      if (8 * (k / 2) + 2 * t + k % 2 < p.width) square += off * off;
    }
    const float scale = rsqrtf(quad_sum(square) / static_cast<float>(p.width) + static_cast<float>(kLayerNormEpsilon));
    if (!there) continue;
#pragma unroll
    for (int k = 0; k < 2 * NT; ++k) value[r][k] = (value[r][k] - mean) * scale * weight[k] + norm_bias[k];
    if (p.normed != nullptr) store_channels<E, NT>(p.normed + first, p.width, value[r]);
    if (p.normed32 != nullptr) store_channels<float, NT>(p.normed32 + first, p.width, value[r]);
    if (t == 0) p.statistics[m] = {mean, scale};
  }
}

/// norm_gradient() with dy = c, for this warp's rows, which begin at `row`. The block writes part `part` of the sums.
/// `sums` [2, warps, 8*NT] is in shared memory.
template <class E, int NT>
__device__ __forceinline__ void norm_gradient_tile(const NormGradient<E>& p, int row, const float (*c)[4], int part,
                                                   float* sums) {
  const int lane = static_cast<int>(threadIdx.x % 32), t = lane % 4, warp = static_cast<int>(threadIdx.x / 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  float weight[2 * NT], unit[2][2 * NT], dx[2][2 * NT] = {};
  float2 statistics[2];
  load_channels<NT>(p.weight, p.width, weight);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int m = row + lane / 4 + 8 * r;
    const bool there = m < p.rows;
    statistics[r] = p.statistics[there ? m : 0];
    const std::int64_t first = static_cast<std::int64_t>(m) * p.width;
    load_channels<NT>(p.sum + first, there ? p.width : 0, unit[r]);
    if (p.accumulate) load_channels<NT>(p.dx + first, there ? p.width : 0, dx[r]);
  }
  float total[2] = {}, product[2] = {};
#pragma unroll
  for (int k = 0; k < 2 * NT; ++k) {
    const int channel = 8 * (k / 2) + 2 * t + k % 2;
    float dweight = 0, dbias = 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      unit[r][k] = (unit[r][k] - statistics[r].x) * statistics[r].y;
      if (row + lane / 4 + 8 * r >= p.rows || channel >= p.width) continue;
      const float dy = c[k / 2][2 * r + k % 2];
      total[r] += dy * weight[k];
      product[r] += dy * weight[k] * unit[r][k];
      dweight += dy * unit[r][k];
      dbias += dy;
    }
    for (int mask = 4; mask < 32; mask *= 2) {  // over the warp's rows
      dweight += __shfl_xor_sync(0xFFFFFFFFu, dweight, mask);
      dbias += __shfl_xor_sync(0xFFFFFFFFu, dbias, mask);
    }
    if (lane / 4 > 0) continue;
    sums[warp * 8 * NT + channel] = dweight;
    sums[(warps + warp) * 8 * NT + channel] = dbias;
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    total[r] = quad_sum(total[r]) / static_cast<float>(p.width);
    product[r] = quad_sum(product[r]) / static_cast<float>(p.width);
    const int m = row + lane / 4 + 8 * r;
    const bool there = m < p.rows;
    const std::uint32_t kept =
        p.dropped == nullptr ? 0 : kept_channels<NT>(p.dropout, there ? p.token[m] : TokenPlace{}, p.width);
    if (!there) continue;
    const std::int64_t first = static_cast<std::int64_t>(m) * p.width;
#pragma unroll
    for (int k = 0; k < 2 * NT; ++k)
      dx[r][k] += statistics[r].y * (c[k / 2][2 * r + k % 2] * weight[k] - total[r] - unit[r][k] * product[r]);
    store_channels<float, NT>(p.dx + first, p.width, dx[r]);
    if (p.dropped == nullptr) continue;
#pragma unroll
    for (int k = 0; k < 2 * NT; ++k) dx[r][k] = (kept >> k & 1) != 0 ? p.dropout.scale * dx[r][k] : 0.0f;
    store_channels<E, NT>(p.dropped + first, p.width, dx[r]);
  }
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < 2 * p.width; e += static_cast<int>(blockDim.x)) {
    const int of = e / p.width, channel = e % p.width;  // weights or biases
    float sum = 0;
    for (int w = 0; w < warps; ++w) sum += sums[(of * warps + w) * 8 * NT + channel];
    p.parts[static_cast<std::int64_t>(part) * 2 * p.width + e] = sum;
  }
}

}  // namespace molgraph::cuda
