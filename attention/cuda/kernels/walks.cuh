// Probabilities of random walks between two atoms as a pair term (Ma et al. 2023, section 3.1), forward and backward.
#pragma once

#include "attention/cuda/kernels/tables.cuh"

namespace molgraph::cuda {

inline constexpr int kWalkHeads = 8;  ///< heads whose sums a thread computes together

struct WalkTask {
  const Molecule* molecules = nullptr;
  int count = 0, heads = 0, steps = 0;
  const float* walks = nullptr;  ///< MoleculeArrays::pair_walks, resident
};
/// One block per molecule: values [head, key, query] (+)= sum over t of r[t] weight[t]; `weight` [K, H].
__global__ void __launch_bounds__(kTableThreads)
    walk_values_kernel(WalkTask p, const float* weight, bool add, float* values) {
  const Molecule& m = p.molecules[blockIdx.x];
  const int pairs = m.tokens * m.tokens;
  for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += kTableThreads) {
    float* to = values + m.pair * p.heads + pair;
    for (int first = 0; first < p.heads; first += kWalkHeads) {
      float sum[kWalkHeads] = {};
      for (int step = 0; step < p.steps; step += 4) {
        const float4 four =
            *reinterpret_cast<const float4*>(walks_of(p.walks, m, p.steps, pair % m.tokens, pair / m.tokens, step));
        const float probability[4] = {four.x, four.y, four.z, four.w};
        for (int t = 0; t < 4; ++t)
          for (int h = 0; h < kWalkHeads; ++h)
            if (step + t < p.steps && first + h < p.heads)
              sum[h] += probability[t] * weight[(step + t) * p.heads + first + h];
      }
      for (int h = 0; h < kWalkHeads && first + h < p.heads; ++h) {
        float& value = to[static_cast<std::int64_t>(first + h) * pairs];
        value = add ? value + sum[h] : sum[h];
      }
    }
  }
}
/// One block per step, slice of the molecules and kWalkHeads heads: gradients of their weights, one value each per
/// slice.
__global__ void __launch_bounds__(kTableThreads)
    walk_gradient_kernel(WalkTask p, const float* slope, std::int64_t slice_stride, float* dweight) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<double*>(memory);  // [threads]
  const int t = static_cast<int>(blockIdx.x), slice = static_cast<int>(blockIdx.y),
            slices = static_cast<int>(gridDim.y), first_head = static_cast<int>(blockIdx.z) * kWalkHeads;
  const int first = static_cast<int>(static_cast<std::int64_t>(p.count) * slice / slices);
  const int last = static_cast<int>(static_cast<std::int64_t>(p.count) * (slice + 1) / slices);
  double whole[kWalkHeads] = {};
  for (int b = first; b < last; ++b) {
    const Molecule& m = p.molecules[b];
    const int pairs = m.tokens * m.tokens;
    float sum[kWalkHeads] = {};
    for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += kTableThreads) {
      const float probability = walks_of(p.walks, m, p.steps, pair % m.tokens, pair / m.tokens, t / 4 * 4)[t % 4];
      const float* from = slope + (m.pair * p.heads + static_cast<std::int64_t>(first_head) * pairs + pair);
      for (int h = 0; h < kWalkHeads; ++h)
        if (first_head + h < p.heads) sum[h] += probability * from[static_cast<std::int64_t>(h) * pairs];
    }
    for (int h = 0; h < kWalkHeads; ++h) whole[h] += sum[h];
  }
  for (int h = 0; h < kWalkHeads && first_head + h < p.heads; ++h) {
    const double total = block_sum<kTableThreads>(sums, whole[h]);
    if (threadIdx.x == 0) dweight[slice * slice_stride + t * p.heads + first_head + h] = static_cast<float>(total);
  }
}

}  // namespace molgraph::cuda
