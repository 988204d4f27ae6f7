// What happens to token rows between the products: residual sums with dropout, LayerNorm and their ways back. A warp has a row;
// lane l has channels l, l + 32, ...
#pragma once

#include "graphormer/attention/cuda/device.cuh"
#include "graphormer/attention/options.hpp"

namespace molgraph::MOLGRAPH_CUDA {

inline constexpr int kRowThreads = 256;
inline constexpr int kRowsPerBlock = kRowThreads / 32;

/// sum = x + drop(branch); then its LayerNorm. What is null is left out.
template <class E>
struct ResidualNorm {
  int rows = 0, width = 0;
  const float *x = nullptr, *branch = nullptr;
  Dropout dropout;
  const TokenPlace* token = nullptr;
  const float *weight = nullptr, *bias = nullptr;
  float* sum = nullptr;
  float2* statistics = nullptr;   ///< [rows] mean and 1/deviation
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

/// The LayerNorm's way back: dx (+)= ...; and what the gradients of weight and bias are summed from.
struct NormGradient {
  int rows = 0, width = 0;
  const float *sum = nullptr, *dy = nullptr, *weight = nullptr;
  const float2* statistics = nullptr;
  float* dx = nullptr;
  bool accumulate = false;
  int slices = 1;
  std::int64_t slice_stride = 0;
  float *dweight = nullptr, *dbias = nullptr;   ///< slice 0
};

__global__ void __launch_bounds__(kRowThreads) norm_gradient_kernel(NormGradient p) {
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (row >= p.rows) return;
  const std::int64_t first = static_cast<std::int64_t>(row) * p.width;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float2 at = p.statistics[row];
  float total = 0, product = 0;
  for (int c = lane; c < p.width; c += 32) {
    const float slope = p.dy[first + c] * p.weight[c];
    total += slope;
    product += slope * (p.sum[first + c] - at.x) * at.y;
  }
  total = warp_sum(total) / static_cast<float>(p.width);
  product = warp_sum(product) / static_cast<float>(p.width);
  for (int c = lane; c < p.width; c += 32) {
    const float unit = (p.sum[first + c] - at.x) * at.y;
    const float slope = at.y * (p.dy[first + c] * p.weight[c] - total - unit * product);
    p.dx[first + c] = p.accumulate ? p.dx[first + c] + slope : slope;
  }
}
// Block (channels, slice): a warp takes every eighth row of the slice, then the warps' sums are added in order.
__global__ void __launch_bounds__(kRowThreads) norm_columns_kernel(NormGradient p) {
  MOLGRAPH_SHARED_MEMORY(memory);
  auto* sums = reinterpret_cast<float*>(memory);   // [2, warps, 32]
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int c = static_cast<int>(blockIdx.x) * 32 + lane, slice = static_cast<int>(blockIdx.y);
  const int share = (p.rows + p.slices - 1) / p.slices, first = slice * share, last = first + share < p.rows ? first + share : p.rows;
  float dweight = 0, dbias = 0;
  if (c < p.width)
    for (int row = first + warp; row < last; row += kRowsPerBlock) {
      const std::int64_t at = static_cast<std::int64_t>(row) * p.width + c;
      dweight += p.dy[at] * (p.sum[at] - p.statistics[row].x) * p.statistics[row].y;
      dbias += p.dy[at];
    }
  sums[warp * 32 + lane] = dweight;
  sums[(kRowsPerBlock + warp) * 32 + lane] = dbias;
  __syncthreads();
  if (warp > 1 || c >= p.width) return;
  float total = 0;
  for (int w = 0; w < kRowsPerBlock; ++w) total += sums[(warp * kRowsPerBlock + w) * 32 + lane];
  (warp == 0 ? p.dweight : p.dbias)[slice * p.slice_stride + c] = total;
}
inline void norm_gradient(Stream stream, const NormGradient& p) {   // the sums first: dx may be dy
  launch(stream, norm_columns_kernel, dim3(blocks_for(p.width, 32), static_cast<unsigned>(p.slices)), kRowThreads,
         2 * kRowThreads * sizeof(float), p);
  launch(stream, norm_gradient_kernel, blocks_for(p.rows, kRowsPerBlock), kRowThreads, 0, p);
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

template <class E>
__global__ void __launch_bounds__(kRowThreads) round_kernel(const float* from, E* to, std::int64_t count) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (at < count) to[at] = from_float<E>(from[at]);
}
template <class E>
void round_to(Stream stream, const float* from, E* to, std::int64_t count) {
  launch(stream, round_kernel<E>, blocks_for(count, kRowThreads), kRowThreads, 0, from, to, count);
}

/// The virtual nodes' rows: [molecules, width] from or to [tokens, width].
__global__ void __launch_bounds__(kRowThreads) virtual_rows_kernel(const Molecule* molecules, int count, int width,
                                                                          float* rows, float* tokens, bool to_tokens) {
  const int b = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (b >= count) return;
  for (int c = static_cast<int>(threadIdx.x % 32); c < width; c += 32) {
    float *row = rows + static_cast<std::int64_t>(b) * width + c, *token = tokens + molecules[b].token * width + c;
    to_tokens ? *token = *row : *row = *token;
  }
}

}  // namespace molgraph::MOLGRAPH_CUDA
