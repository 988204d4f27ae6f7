// What a head reads of a molecule beside its embedding: numbers of the whole molecule, and its way back.
#pragma once

#include "attention/cuda/kernels/rows.cuh"

namespace molgraph::cuda {

/// `mixed` [molecules, width + count] = drop(graph, inputs), or on the way back `graph` and `dstand_in` from the
/// gradient in `mixed`.
struct HeadInput {
  const Molecule* molecule = nullptr;
  int molecules = 0, width = 0, count = 0;
  const float* inputs = nullptr;    ///< resident
  const float* stand_in = nullptr;  ///< [count] of what is missing
  Dropout dropout;
  float *graph = nullptr, *mixed = nullptr;
  float* dstand_in = nullptr;  ///< [count]
};

/// Factor of element `at` of what a molecule's head reads.
__device__ __forceinline__ float head_factor(const HeadInput& p, int molecule, int at) {
  return keep_factor(p.dropout, {p.molecule[molecule].row, 0, molecule}, 0, at);
}

// A warp has a molecule.
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
// A warp has an input: its lanes take every 32nd molecule, then their sums are added in a fixed order.
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
