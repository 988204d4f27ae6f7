// P_Q(i).P_K(j) of the tokens' absolute positions (Chen et al. 2021, eq. 1), forward and backward.
#pragma once

#include "attention/cuda/kernels/tables.cuh"

namespace molgraph::cuda {

struct AbsoluteTask {
  const Molecule* molecules = nullptr;
  const TokenPlace* token = nullptr;
  int tokens = 0, heads = 0, rank = 0, steps = 0;
  const std::int32_t* ids = nullptr;  ///< [tokens] rows in the tables
  const float* walks = nullptr;       ///< [tokens, steps]
};
/// out [tokens, H*rank] = row table + walks times walk table.
__global__ void __launch_bounds__(kTableThreads)
    absolute_factors_kernel(AbsoluteTask p, const float* rows, const float* walk, float* out) {
  const int t = static_cast<int>(blockIdx.x), width = p.heads * p.rank;
  if (p.ids[t] < 0) return;
  for (int c = static_cast<int>(threadIdx.x); c < width; c += kTableThreads) {
    float value = rows[static_cast<std::int64_t>(p.ids[t]) * width + c];
    for (int s = 0; s < p.steps; ++s)
      value += p.walks[static_cast<std::int64_t>(t) * p.steps + s] * walk[static_cast<std::int64_t>(s) * width + c];
    out[static_cast<std::int64_t>(t) * width + c] = value;
  }
}
/// One block per molecule: bias [head, key, query] (+)= query.key.
__global__ void __launch_bounds__(kTableThreads)
    absolute_bias_kernel(AbsoluteTask p, const float* query, const float* key, bool add, float* bias) {
  const Molecule& m = p.molecules[blockIdx.x];
  const int n = m.tokens, width = p.heads * p.rank;
  for (int e = static_cast<int>(threadIdx.x); e < p.heads * n * n; e += kTableThreads) {
    const int i = e % n, j = e / n % n, h = e / n / n;
    const float *q = query + (m.token + i) * width + h * p.rank, *k = key + (m.token + j) * width + h * p.rank;
    float sum = 0;
    for (int c = 0; c < p.rank; ++c) sum += q[c] * k[c];
    float* to = bias + m.pair * p.heads + e;
    *to = add ? *to + sum : sum;
  }
}
/// One block per token: gradients of its two factors.
__global__ void __launch_bounds__(kTableThreads)
    absolute_gradient_kernel(AbsoluteTask p, const float* slope, const float* query, const float* key, float* dquery,
                             float* dkey) {
  const int t = static_cast<int>(blockIdx.x), width = p.heads * p.rank;
  if (p.token[t].molecule < 0) {
    for (int c = static_cast<int>(threadIdx.x); c < width; c += kTableThreads)
      dquery[static_cast<std::int64_t>(t) * width + c] = dkey[static_cast<std::int64_t>(t) * width + c] = 0;
    return;
  }
  const Molecule& m = p.molecules[p.token[t].molecule];
  const int n = m.tokens, i = static_cast<int>(p.token[t].index);
  for (int c = static_cast<int>(threadIdx.x); c < width; c += kTableThreads) {
    const float* of_head = slope + m.pair * p.heads + static_cast<std::int64_t>(c / p.rank) * n * n;
    float q = 0, k = 0;
    for (int j = 0; j < n; ++j) {
      q += of_head[j * n + i] * key[(m.token + j) * width + c];
      k += of_head[i * n + j] * query[(m.token + j) * width + c];
    }
    dquery[static_cast<std::int64_t>(t) * width + c] = q;
    dkey[static_cast<std::int64_t>(t) * width + c] = k;
  }
}

}  // namespace molgraph::cuda
