// The head's inputs in addition to the embedding: molecule-level numbers. Forward and backward.
#pragma once

#include "attention/cuda/kernels/rows.cuh"

namespace molgraph::cuda {

/// `mixed` [molecules, width + count] = drop(graph, inputs). Backward: `graph` and `dstand_in` from the gradient in
/// `mixed`.
struct HeadInput {
  const Molecule* molecule = nullptr;
  int molecules = 0, width = 0, count = 0;
  const float* inputs = nullptr;    ///< resident
  const float* stand_in = nullptr;  ///< [count] replacements of missing inputs
  Dropout dropout;
  float *graph = nullptr, *mixed = nullptr;
  float* dstand_in = nullptr;  ///< [count]
};

/// Returns the dropout factor of element `at` of a head's inputs.
__device__ __forceinline__ float head_factor(const HeadInput& p, int molecule, int at) {
  return keep_factor(p.dropout, {p.molecule[molecule].row, 0, molecule}, 0, at);
}

// One warp per molecule.
__global__ void __launch_bounds__(kRowThreads) head_input_kernel(HeadInput p) {
  const int b = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (b >= p.molecules) return;
  const int all = p.width + p.count;
  for (int at = static_cast<int>(threadIdx.x % 32); at < all; at += 32) {
    float value = at < p.width ? p.graph[static_cast<std::int64_t>(b) * p.width + at]
                               : p.inputs[p.molecule[b].input_at + at - p.width];
    if (at >= p.width && isnan(value)) value = p.stand_in[at - p.width];
    p.mixed[static_cast<std::int64_t>(b) * all + at] = head_factor(p, b, at) * value;
  }
}
__global__ void __launch_bounds__(kRowThreads) head_input_back_kernel(HeadInput p) {
  const int b = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (b >= p.molecules) return;
  for (int c = static_cast<int>(threadIdx.x % 32); c < p.width; c += 32)
    p.graph[static_cast<std::int64_t>(b) * p.width + c] =
        head_factor(p, b, c) * p.mixed[static_cast<std::int64_t>(b) * (p.width + p.count) + c];
}
// One warp per input. Each lane has every 32nd molecule, then the lanes' sums are added in a fixed order.
__global__ void __launch_bounds__(kRowThreads) stand_in_gradient_kernel(HeadInput p) {
  const int d = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (d >= p.count) return;
  const int lane = static_cast<int>(threadIdx.x % 32), at = p.width + d;
  float sum = 0;
  for (int b = lane; b < p.molecules; b += 32)
    if (isnan(p.inputs[p.molecule[b].input_at + d]))
      sum += head_factor(p, b, at) * p.mixed[static_cast<std::int64_t>(b) * (p.width + p.count) + at];
  sum = warp_sum(sum);
  if (lane == 0) p.dstand_in[d] = sum;
}

}  // namespace molgraph::cuda
