// Operations on token rows between the products: residual sums with dropout, LayerNorm and their backward passes. One
// warp per row. Lane l has channels l, l + 32, ...
#pragma once

#include <algorithm>

#include "attention/cuda/kernels/device.cuh"
#include "attention/spec/options.hpp"

namespace molgraph::cuda {

inline constexpr int kRowThreads = 256;
inline constexpr int kRowsPerBlock = kRowThreads / 32;

/// sum = x + drop(branch), followed by its LayerNorm. Outputs that are null are skipped.
template <class E>
struct ResidualNorm {
  int rows = 0, width = 0;
  const float *x = nullptr, *branch = nullptr;
  Dropout dropout;
  const TokenPlace* token = nullptr;
  const float *weight = nullptr, *bias = nullptr;
  float* sum = nullptr;
  float2* statistics = nullptr;  ///< [rows] mean and 1/deviation
  E* normed = nullptr;
  float* normed32 = nullptr;
};

template <class E>
__global__ void __launch_bounds__(kRowThreads) residual_norm_kernel(ResidualNorm<E> p) {
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (row >= p.rows) return;
  const std::int64_t first = static_cast<std::int64_t>(row) * p.width;
  const int lane = static_cast<int>(threadIdx.x % 32);
  float total = 0;
  for (int c = lane; c < p.width; c += 32) {
    float value = p.x[first + c];
    if (p.branch != nullptr) {
      const float keep = p.dropout.threshold == 0 ? 1.0f : keep_factor(p.dropout, p.token[row], p.width, c);
      value += keep * p.branch[first + c];
    }
    p.sum[first + c] = value;
    total += value;
  }
  if (p.weight == nullptr) return;
  const float mean = warp_sum(total) / static_cast<float>(p.width);
  float square = 0;
  for (int c = lane; c < p.width; c += 32) {
    const float off = p.sum[first + c] - mean;
    square += off * off;
  }
  const float scale = rsqrtf(warp_sum(square) / static_cast<float>(p.width) + static_cast<float>(kLayerNormEpsilon));
  for (int c = lane; c < p.width; c += 32) {
    const float value = (p.sum[first + c] - mean) * scale * p.weight[c] + p.bias[c];
    if (p.normed != nullptr) p.normed[first + c] = from_float<E>(value);
    if (p.normed32 != nullptr) p.normed32[first + c] = value;
  }
  if (lane == 0) p.statistics[row] = {mean, scale};
}
template <class E>
void residual_norm(Stream stream, const ResidualNorm<E>& p) {
  launch(stream, residual_norm_kernel<E>, blocks_for(p.rows, kRowsPerBlock), kRowThreads, 0, p);
}

/// Backward pass of the LayerNorm, dx (+)= ..., and of the preceding dropout: dropped = drop(dx), rounded.
template <class E>
struct NormGradient {
  int rows = 0, width = 0;
  const float *sum = nullptr, *dy = nullptr, *weight = nullptr;
  const float2* statistics = nullptr;
  float* dx = nullptr;  ///< may be dy
  bool accumulate = false;
  float* parts = nullptr;  ///< [parts, 2, width]: terms of the sums dweight and dbias
  E* dropped = nullptr;    ///< null: not computed
  Dropout dropout;
  const TokenPlace* token = nullptr;
};

/// Number of blocks of a LayerNorm's backward pass. It does not depend on the card, so neither do the sums.
inline int norm_parts(int rows) { return static_cast<int>(std::min(blocks_for(rows, kRowsPerBlock), 264u)); }

/// For sums over rows in parts, a block has consecutive rows, and each warp has every eighth of them.
struct RowShare {
  int first, last;
};
__device__ __forceinline__ RowShare rows_of_block(int rows) {
  const int parts = static_cast<int>(gridDim.x), share = (rows + parts - 1) / parts,
            first = static_cast<int>(blockIdx.x) * share;
  return {first, first + share < rows ? first + share : rows};
}
/// Adds the sums [warps, 2, width] of the block's warps in order and writes them to the block's part of `parts` [parts,
/// 2, width].
__device__ __forceinline__ void store_part(const float* sums, int width, float* parts) {
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < 2 * width; c += kRowThreads) {
    float total = 0;
    for (int w = 0; w < kRowsPerBlock; ++w) total += sums[2 * w * width + c];
    parts[static_cast<std::int64_t>(blockIdx.x) * 2 * width + c] = total;
  }
}

template <class E>
__global__ void __launch_bounds__(kRowThreads) norm_gradient_kernel(NormGradient<E> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<float*>(memory);  // [warps, 2, width]
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const RowShare rows = rows_of_block(p.rows);
  float *dweight = sums + 2 * warp * p.width, *dbias = dweight + p.width;
  for (int c = lane; c < p.width; c += 32) dweight[c] = dbias[c] = 0;
  for (int row = rows.first + warp; row < rows.last; row += kRowsPerBlock) {
    const std::int64_t begin = static_cast<std::int64_t>(row) * p.width;
    const float2 at = p.statistics[row];
    float total = 0, product = 0;
    for (int c = lane; c < p.width; c += 32) {
      const float dy = p.dy[begin + c], unit = (p.sum[begin + c] - at.x) * at.y;
      total += dy * p.weight[c];
      product += dy * p.weight[c] * unit;
      dweight[c] += dy * unit;
      dbias[c] += dy;
    }
    total = warp_sum(total) / static_cast<float>(p.width);
    product = warp_sum(product) / static_cast<float>(p.width);
    for (int c = lane; c < p.width; c += 32) {
      const float unit = (p.sum[begin + c] - at.x) * at.y;
      const float slope = at.y * (p.dy[begin + c] * p.weight[c] - total - unit * product);
      const float dx = p.accumulate ? p.dx[begin + c] + slope : slope;
      p.dx[begin + c] = dx;
      if (p.dropped == nullptr) continue;
      const float keep = p.dropout.threshold == 0 ? 1.0f : keep_factor(p.dropout, p.token[row], p.width, c);
      p.dropped[begin + c] = from_float<E>(keep * dx);
    }
  }
  store_part(sums, p.width, p.parts);
}
template <class E>
void norm_gradient(Stream stream, const NormGradient<E>& p, int parts) {
  launch(stream, norm_gradient_kernel<E>, static_cast<unsigned>(parts), kRowThreads,
         static_cast<std::size_t>(2 * kRowsPerBlock * p.width) * sizeof(float), p);
}

/// Sums the consecutive parts of LayerNorms (or degree scales).
struct NormColumns {
  static constexpr int kPerLaunch = 64;
  int width = 0, parts = 0;
  const float* from = nullptr;  ///< [norms, parts, 2, width]
  struct To {
    float *dweight, *dbias;
  } to[kPerLaunch] = {};
};
// Block (channels, weight or bias, norm). Each warp sums every eighth part, then the warps' sums are added in order.
__global__ void __launch_bounds__(kRowThreads) norm_columns_kernel(NormColumns p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<float*>(memory);  // [warps, 32]
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int c = static_cast<int>(blockIdx.x) * 32 + lane;
  const float* from = p.from + (static_cast<std::int64_t>(blockIdx.z) * p.parts * 2 + blockIdx.y) * p.width;
  float sum = 0;
  for (int part = warp; part < p.parts && c < p.width; part += kRowsPerBlock)
    sum += from[static_cast<std::int64_t>(part) * 2 * p.width + c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (warp > 0 || c >= p.width) return;
  float total = 0;
  for (int w = 0; w < kRowsPerBlock; ++w) total += sums[w * 32 + lane];
  (blockIdx.y == 0 ? p.to[blockIdx.z].dweight : p.to[blockIdx.z].dbias)[c] = total;
}

/// out = drop(x), rounded; [rows, width].
template <class E>
struct Drop {
  const float* x = nullptr;
  E* out = nullptr;
  int rows = 0, width = 0;
  Dropout dropout;
  const TokenPlace* token = nullptr;
};
template <class E>
__global__ void __launch_bounds__(kRowThreads) drop_kernel(Drop<E> p) {
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (row >= p.rows) return;
  for (int c = static_cast<int>(threadIdx.x % 32); c < p.width; c += 32) {
    const std::int64_t at = static_cast<std::int64_t>(row) * p.width + c;
    const float keep = p.dropout.threshold == 0 ? 1.0f : keep_factor(p.dropout, p.token[row], p.width, c);
    p.out[at] = from_float<E>(keep * p.x[at]);
  }
}
template <class E>
void drop(Stream stream, const Drop<E>& p) {
  launch(stream, drop_kernel<E>, blocks_for(p.rows, kRowsPerBlock), kRowThreads, 0, p);
}

__global__ void __launch_bounds__(kRowThreads) add_kernel(const float* from, float* to, std::int64_t count) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (at < count) to[at] += from[at];
}
/// to += from
inline void add(Stream stream, const float* from, float* to, std::int64_t count) {
  launch(stream, add_kernel, blocks_for(count, kRowThreads), kRowThreads, 0, from, to, count);
}

__global__ void __launch_bounds__(kRowThreads) multiply_kernel(const float* factor, float* x, std::int64_t count) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (at < count) x[at] *= factor[at];
}

template <class E>
__global__ void __launch_bounds__(kRowThreads) round_kernel(const float* from, E* to, std::int64_t count) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (at < count) to[at] = from_float<E>(from[at]);
}
template <class E>
void round_to(Stream stream, const float* from, E* to, std::int64_t count) {
  launch(stream, round_kernel<E>, blocks_for(count, kRowThreads), kRowThreads, 0, from, to, count);
}

/// Copies the virtual nodes' rows [molecules, width] from or to [tokens, width].
__global__ void __launch_bounds__(kRowThreads)
    virtual_rows_kernel(const Molecule* molecules, int count, int width, float* rows, float* tokens, bool to_tokens) {
  const int b = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (b >= count) return;
  for (int c = static_cast<int>(threadIdx.x % 32); c < width; c += 32) {
    float *row = rows + static_cast<std::int64_t>(b) * width + c, *token = tokens + molecules[b].token * width + c;
    to_tokens ? * token = *row : * row = *token;
  }
}

}  // namespace molgraph::cuda
