// AdamW for all parameters together (Loshchilov & Hutter 2019, algorithm 2), clipping, and the moving average of the
// weights.
#pragma once

#include "attention/cuda/kernels/device.cuh"

namespace molgraph::cuda {

inline constexpr int kUpdateThreads = 256, kUpdateEach = 4;
inline constexpr int kUpdateBlock = kUpdateThreads * kUpdateEach;

struct Update {
  std::int64_t size = 0;
  int slices = 1;
  const float* partial = nullptr;  ///< [slices, size]
  float *gradient = nullptr, *weight = nullptr, *mean = nullptr, *square = nullptr, *average = nullptr;
  const std::uint8_t* kind = nullptr;  ///< [size] 0 = frozen (or padding), 1 = without decay, 2 = with decay
  double* squares = nullptr;           ///< [blocks] of the gradient, then its clip factor
  const StepNumbers* numbers = nullptr;
  const double* targets = nullptr;  ///< [1] number of labels in this batch; 0 = no update
};

/// gradient = sum of the slices in order; unless `squares` is null, also each block's sum of squares.
__global__ void __launch_bounds__(kUpdateThreads) sum_slices_kernel(Update p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<double*>(memory);
  double square = 0;
  for (int k = 0; k < kUpdateEach; ++k) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kUpdateBlock + k * kUpdateThreads + threadIdx.x;
    if (at >= p.size) continue;
    float sum = 0;
    for (int s = 0; s < p.slices; ++s) sum += p.partial[s * p.size + at];
    p.gradient[at] = sum;
    if (p.kind != nullptr && p.kind[at] != 0) square += static_cast<double>(sum) * sum;
  }
  if (p.squares == nullptr) return;
  const double total = block_sum<kUpdateThreads>(sums, square);
  if (threadIdx.x == 0) p.squares[blockIdx.x] = total;
}

__global__ void __launch_bounds__(kUpdateThreads) clip_kernel(Update p, int blocks) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<double*>(memory);
  double square = 0;
  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += kUpdateThreads) square += p.squares[b];
  const double total = block_sum<kUpdateThreads>(sums, square);
  if (threadIdx.x > 0) return;
  p.squares[blocks] = clip_factor(p.numbers->clip, sqrt(total));
}

__global__ void __launch_bounds__(kUpdateThreads) adamw_kernel(Update p, int blocks) {
  if (p.targets[0] == 0) return;
  const StepNumbers u = *p.numbers;
  const auto clip = static_cast<float>(p.squares[blocks]);
  for (int k = 0; k < kUpdateEach; ++k) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kUpdateBlock + k * kUpdateThreads + threadIdx.x;
    if (at >= p.size || p.kind[at] == 0) continue;
    float mean = p.mean[at], square = p.square[at], weight = p.weight[at];
    adam_update(u.adam, p.kind[at] == 2 ? u.keep : 1.0f, clip, p.gradient[at], mean, square, weight);
    p.mean[at] = mean;
    p.square[at] = square;
    p.weight[at] = weight;
    if (p.average != nullptr) average_update(u.average, weight, p.average[at]);
  }
}

}  // namespace molgraph::cuda
