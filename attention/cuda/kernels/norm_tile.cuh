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
      draw_block(*dropout.key, token.row, dropout.place, row / 8 + first + t, words);
      std::uint32_t own = 0;
      for (std::uint32_t c = 0; c < 8; ++c)
        own |= static_cast<std::uint32_t>(pick_draw(words, c) >= dropout.threshold) << c;
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

/// residual_norm() of the branch c + bias, for this warp's rows, which begin at `row`.
template <class E, int NT>
__device__ __forceinline__ void residual_norm_tile(const ResidualNorm<E>& p, const float* bias, int row,
                                                   float (*c)[4]) {
  const int lane = static_cast<int>(threadIdx.x % 32), t = lane % 4;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int m = row + lane / 4 + 8 * r;
    const bool there = m < p.rows;  // all lanes take part in the sums
    const std::int64_t first = static_cast<std::int64_t>(m) * p.width;
    const std::uint32_t kept = kept_channels<NT>(p.dropout, there ? p.token[m] : TokenPlace{}, p.width);
    float total = 0;
#pragma unroll
    for (int n = 0; n < NT && there; ++n) {
      const int channel = 8 * n + 2 * t;
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        float& value = c[n][2 * r + x];
        if (channel + x >= p.width) continue;
        const float keep = (kept >> (2 * n + x) & 1) != 0 ? p.dropout.scale : 0.0f;
        value = p.x[first + channel + x] + keep * (value + (bias == nullptr ? 0.0f : bias[channel + x]));
        p.sum[first + channel + x] = value;
        total += value;
      }
    }
    if (p.weight == nullptr) continue;
    const float mean = quad_sum(total) / static_cast<float>(p.width);
    float square = 0;
#pragma unroll
    for (int n = 0; n < NT; ++n)
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        const float off = c[n][2 * r + x] - mean;
        if (8 * n + 2 * t + x < p.width) square += off * off;
      }
    const float scale = rsqrtf(quad_sum(square) / static_cast<float>(p.width) + static_cast<float>(kLayerNormEpsilon));
    if (!there) continue;
#pragma unroll
    for (int n = 0; n < NT; ++n)
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        const int channel = 8 * n + 2 * t + x;
        if (channel >= p.width) continue;
        const float value = (c[n][2 * r + x] - mean) * scale * p.weight[channel] + p.bias[channel];
        if (p.normed != nullptr) p.normed[first + channel] = from_float<E>(value);
        if (p.normed32 != nullptr) p.normed32[first + channel] = value;
      }
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
  float total[2] = {}, product[2] = {};
#pragma unroll
  for (int n = 0; n < NT; ++n)
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const int channel = 8 * n + 2 * t + x;
      float dweight = 0, dbias = 0;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int m = row + lane / 4 + 8 * r;
        if (m >= p.rows || channel >= p.width) continue;
        const float2 at = p.statistics[m];
        const float dy = c[n][2 * r + x],
                    unit = (p.sum[static_cast<std::int64_t>(m) * p.width + channel] - at.x) * at.y;
        total[r] += dy * p.weight[channel];
        product[r] += dy * p.weight[channel] * unit;
        dweight += dy * unit;
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
    const float2 at = p.statistics[m];
#pragma unroll
    for (int n = 0; n < NT; ++n) {
      const int channel = 8 * n + 2 * t;
#pragma unroll
      for (int x = 0; x < 2; ++x) {
        if (channel + x >= p.width) continue;
        const std::int64_t k = first + channel + x;
        const float unit = (p.sum[k] - at.x) * at.y,
                    slope = at.y * (c[n][2 * r + x] * p.weight[channel + x] - total[r] - unit * product[r]);
        const float dx = p.accumulate ? p.dx[k] + slope : slope;
        p.dx[k] = dx;
        if (p.dropped != nullptr)
          p.dropped[k] = from_float<E>((kept >> (2 * n + x) & 1) != 0 ? p.dropout.scale * dx : 0.0f);
      }
    }
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
