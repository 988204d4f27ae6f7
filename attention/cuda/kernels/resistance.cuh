// Gaussians of the resistance distance (Zhang et al. 2023, section 4), forward and backward.
#pragma once

#include "attention/cuda/kernels/tables.cuh"

namespace molgraph::cuda {

struct ResistanceTask {
  const Molecule* molecules = nullptr;
  int count = 0, heads = 0, kernels = 0;
  const float* resistance = nullptr;                                 ///< resident [pairs], -1 = none
  const float *mean = nullptr, *width = nullptr, *weight = nullptr;  ///< [K], [K], [K, H]
};
/// One block per molecule: values [head, key, query] (+)= sum over k of weight[k] G_k(R).
__global__ void __launch_bounds__(kTableThreads) resistance_values_kernel(ResistanceTask p, bool add, float* values) {
  const Molecule& m = p.molecules[blockIdx.x];
  const int pairs = m.tokens * m.tokens;
  for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += kTableThreads) {
    const float r = p.resistance[m.pair_at + pair];
    float* to = values + m.pair * p.heads + pair;
    for (int h = 0; h < p.heads && !add; ++h) to[static_cast<std::int64_t>(h) * pairs] = 0;
    for (int k = 0; k < p.kernels && r >= 0; ++k) {
      const float density = gaussian(r, p.mean[k], gaussian_deviation(p.width[k]));
      for (int h = 0; h < p.heads; ++h) to[static_cast<std::int64_t>(h) * pairs] += density * p.weight[k * p.heads + h];
    }
  }
}
/// One block per Gaussian and slice of the molecules: gradients of its mean, width and weights, one value each per
/// slice.
__global__ void __launch_bounds__(kTableThreads)
    resistance_gradient_kernel(ResistanceTask p, const float* slope, std::int64_t slice_stride, float* dmean,
                               float* dwidth, float* dweight) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<double*>(memory);  // [threads]
  const int k = static_cast<int>(blockIdx.x), slice = static_cast<int>(blockIdx.y),
            slices = static_cast<int>(gridDim.y);
  const float mean = p.mean[k], deviation = gaussian_deviation(p.width[k]);
  const int first = static_cast<int>(static_cast<std::int64_t>(p.count) * slice / slices);
  const int last = static_cast<int>(static_cast<std::int64_t>(p.count) * (slice + 1) / slices);
  double of_mean = 0, of_width = 0;
  for (int h = 0; h < p.heads; ++h) {
    double weight_sum = 0, mean_sum = 0, width_sum = 0;
    for (int b = first; b < last; ++b) {
      const Molecule& m = p.molecules[b];
      const int pairs = m.tokens * m.tokens;
      for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += kTableThreads) {
        const float r = p.resistance[m.pair_at + pair];
        if (!(r >= 0)) continue;
        const float distance = (r - mean) / deviation;
        const float flow =
            slope[m.pair * p.heads + static_cast<std::int64_t>(h) * pairs + pair] * gaussian(r, mean, deviation);
        weight_sum += flow;
        mean_sum += flow * distance / deviation;
        width_sum += flow * (distance * distance - 1) / deviation;
      }
    }
    const double whole = block_sum<kTableThreads>(sums, weight_sum);
    const float weight = p.weight[k * p.heads + h];
    of_mean += weight * block_sum<kTableThreads>(sums, mean_sum);
    of_width += weight * block_sum<kTableThreads>(sums, width_sum);
    if (threadIdx.x == 0) dweight[slice * slice_stride + k * p.heads + h] = static_cast<float>(whole);
  }
  if (threadIdx.x != 0) return;
  dmean[slice * slice_stride + k] = static_cast<float>(of_mean);
  dwidth[slice * slice_stride + k] = static_cast<float>(p.width[k] < 0 ? -of_width : of_width);
}

}  // namespace molgraph::cuda
