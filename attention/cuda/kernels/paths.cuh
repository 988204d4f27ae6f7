// The edge-path term (Ying et al. 2021, eq. 7; for the formula, see path_bias.hpp): T[p][bond] = Ebar W[p], then for
// every pair the mean over its shortest paths, computed from distances and bonds, and the backward pass. One block per
// molecule, which processes one distance after another.
#pragma once

#include "attention/cuda/kernels/device.cuh"
#include "attention/cuda/molecules.hpp"

namespace molgraph::cuda {

inline constexpr int kPathThreads = 256;

struct PathTask {
  const Molecule* molecules = nullptr;
  int count = 0, heads = 0, hops = 0, bond_ids = 0;
  bool single = false;  ///< one shortest path, through the predecessor with the smallest index, instead of the mean
  BondGraph graph;
  const float* table = nullptr;  ///< T [hops, bond ids, H]
  float* number = nullptr;       ///< sigma, [pairs] like distances: number of shortest paths
  float* values = nullptr;       ///< per molecule [head, key, query]
};

/// A pair (i, j) of atoms, as tokens of molecule `m`, and the last bonds of its shortest paths.
struct PathPair {
  const PathTask& p;
  const Molecule& m;
  int i, j, level;

  __device__ __forceinline__ PathPair(const PathTask& term, const Molecule& molecule, int pair)
      : p(term), m(molecule), i(pair % molecule.tokens), j(pair / molecule.tokens),
        level(i == 0 || j == 0 ? -1 : p.graph.distance[molecule.pair_at + pair]) {}

  __device__ __forceinline__ int distance_to(int u) const { return p.graph.distance[m.pair_at + u * m.tokens + i]; }
  __device__ __forceinline__ float& number(int u) const { return p.number[m.pair + u * m.tokens + i]; }
  __device__ __forceinline__ float& at(float* pairs, int head, int u) const {
    return pairs[m.pair * p.heads + (static_cast<std::int64_t>(head) * m.tokens + u) * m.tokens + i];
  }
  /// Calls visit(u, bond id, weight) for every predecessor u of `to`, with `single` only for the first. number() of
  /// both must be known.
  template <class Visit>
  __device__ __forceinline__ void predecessors(int to, int distance, const Visit& visit) const {
    const std::int64_t atom = m.atom_at + to - 1;
    for (int b = p.graph.first_bond[atom]; b < p.graph.first_bond[atom + 1]; ++b) {
      const int u = p.graph.partner[b];
      if (distance_to(u) != distance - 1) continue;
      visit(u, p.graph.bond[b], p.single ? 1.0f : number(u) / number(to));
      if (p.single) return;
    }
  }
  /// Calls visit(k, weight) for every k that this pair's atom j precedes.
  template <class Visit>
  __device__ __forceinline__ void successors(const Visit& visit) const {
    const std::int64_t atom = m.atom_at + j - 1;
    for (int b = p.graph.first_bond[atom]; b < p.graph.first_bond[atom + 1]; ++b) {
      const int k = p.graph.partner[b];
      if (distance_to(k) != level + 1) continue;
      predecessors(k, level + 1, [&](int u, int, float weight) {
        if (u == j) visit(k, weight);
      });
    }
  }
};

__global__ void __launch_bounds__(kPathThreads)
    path_table_kernel(const float* bond, const float* hop_weight, const std::int32_t* rows, int rows_per_id, int hops,
                      int bond_ids, int heads, float* table) {
  const int at = static_cast<int>(blockIdx.x) * kPathThreads + static_cast<int>(threadIdx.x);
  if (at >= hops * bond_ids * heads) return;
  const int h = at % heads, id = at / heads % bond_ids, p = at / heads / bond_ids;
  float sum = 0;
  for (int in = 0; in < heads; ++in) {
    float mean = 0;
    for (int r = 0; r < rows_per_id; ++r)
      mean += bond[rows[id * rows_per_id + r] * heads + in] / static_cast<float>(rows_per_id);
    sum += mean * hop_weight[(p * heads + in) * heads + h];
  }
  table[at] = sum;
}

__global__ void __launch_bounds__(kPathThreads) path_values_kernel(PathTask p) {
  const Molecule& m = p.molecules[blockIdx.x];
  const int pairs = m.tokens * m.tokens;
  for (int k = static_cast<int>(threadIdx.x); k < pairs; k += kPathThreads) {
    const PathPair pair(p, m, k);
    pair.number(pair.j) = pair.level == 0 ? 1.0f : 0.0f;
    for (int h = 0; h < p.heads; ++h) pair.at(p.values, h, pair.j) = 0;
  }
  __syncthreads();
  for (int level = 1; level <= m.longest; ++level) {
    for (int k = static_cast<int>(threadIdx.x); k < pairs; k += kPathThreads) {
      const PathPair pair(p, m, k);
      if (pair.level != level) continue;
      float number = 0;
      const std::int64_t atom = m.atom_at + pair.j - 1;
      for (int b = p.graph.first_bond[atom]; b < p.graph.first_bond[atom + 1]; ++b)
        if (pair.distance_to(p.graph.partner[b]) == level - 1) number += pair.number(p.graph.partner[b]);
      pair.number(pair.j) = number;
      pair.predecessors(pair.j, level, [&](int u, int bond, float weight) {
        const float* hop = level <= p.hops ? p.table + ((level - 1) * p.bond_ids + bond) * p.heads : nullptr;
        for (int h = 0; h < p.heads; ++h)
          pair.at(p.values, h, pair.j) += weight * (pair.at(p.values, h, u) + (hop != nullptr ? hop[h] : 0.0f));
      });
    }
    __syncthreads();
  }
  for (int k = static_cast<int>(threadIdx.x); k < pairs; k += kPathThreads) {
    const PathPair pair(p, m, k);
    if (pair.level < 2 || pair.level > m.longest) continue;
    const float share = 1.0f / static_cast<float>(pair.level < p.hops ? pair.level : p.hops);
    for (int h = 0; h < p.heads; ++h) pair.at(p.values, h, pair.j) *= share;
  }
}

/// Overwrites `slope` [as values]. Block s adds its molecules s, s + gridDim.x, ... to part s of [gridDim.x, hops, bond
/// ids, H].
__global__ void __launch_bounds__(kPathThreads) path_gradient_kernel(PathTask p, float* slope, float* parts) {
  const int levels = p.hops, lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  float* part = parts + static_cast<std::int64_t>(blockIdx.x) * p.hops * p.bond_ids * p.heads;
  for (int e = static_cast<int>(threadIdx.x); e < levels * p.bond_ids * p.heads; e += kPathThreads) part[e] = 0;
  for (int b = static_cast<int>(blockIdx.x); b < p.count; b += static_cast<int>(gridDim.x)) {
    const Molecule& m = p.molecules[b];
    const int pairs = m.tokens * m.tokens;
    for (int k = static_cast<int>(threadIdx.x); k < pairs; k += kPathThreads) {
      const PathPair pair(p, m, k);
      if (pair.level < 2 || pair.level > m.longest) continue;
      const float share = 1.0f / static_cast<float>(pair.level < p.hops ? pair.level : p.hops);
      for (int h = 0; h < p.heads; ++h) pair.at(slope, h, pair.j) *= share;
    }
    __syncthreads();
    for (int level = m.longest - 1; level >= 1; --level) {  // from the leaves to the root
      for (int k = static_cast<int>(threadIdx.x); k < pairs; k += kPathThreads) {
        const PathPair pair(p, m, k);
        if (pair.level != level) continue;
        pair.successors([&](int next, float weight) {
          for (int h = 0; h < p.heads; ++h) pair.at(slope, h, pair.j) += weight * pair.at(slope, h, next);
        });
      }
      __syncthreads();
    }
    // A warp has a level. It searches the pairs with all lanes, and adds each pair it finds with one lane per head.
    for (int level = warp + 1; level <= levels && level <= m.longest; level += kPathThreads / 32)
      for (int first = 0; first < pairs; first += 32) {
        const int mine = first + lane;
        std::uint32_t found = __ballot_sync(0xFFFFFFFFu, mine < pairs && PathPair(p, m, mine).level == level);
        for (; found != 0; found &= found - 1) {
          const PathPair pair(p, m, first + __ffs(static_cast<int>(found)) - 1);
          for (int h = lane; h < p.heads; h += 32) {
            const float value = pair.at(slope, h, pair.j);
            pair.predecessors(pair.j, level, [&](int, int bond, float weight) {
              part[((level - 1) * p.bond_ids + bond) * p.heads + h] += weight * value;
            });
          }
        }
      }
    __syncthreads();
  }
}

/// Adds the parts of T's gradient in order and computes the gradients of T's factors.
struct PathFactors {
  const float *parts = nullptr, *bond = nullptr, *hop_weight = nullptr;
  const std::int32_t* rows = nullptr;  ///< [bond ids, rows_per_id] of `bond`
  int part_count = 0, rows_per_id = 0, hops = 0, bond_ids = 0, heads = 0, bond_rows = 0;
  float *table = nullptr, *dbond = nullptr, *dhop_weight = nullptr;  ///< table: T's gradient
};
__global__ void __launch_bounds__(kPathThreads) path_parts_kernel(PathFactors f) {
  const int size = f.hops * f.bond_ids * f.heads,
            at = static_cast<int>(blockIdx.x) * kPathThreads + static_cast<int>(threadIdx.x);
  if (at >= size) return;
  float sum = 0;
  for (int k = 0; k < f.part_count; ++k) sum += f.parts[static_cast<std::int64_t>(k) * size + at];
  f.table[at] = sum;
}
__global__ void __launch_bounds__(kPathThreads) path_factors_kernel(PathFactors f) {
  const int weights = f.hops * f.heads * f.heads, bonds = f.bond_rows * f.heads;
  const int at = static_cast<int>(blockIdx.x) * kPathThreads + static_cast<int>(threadIdx.x);
  if (at < weights) {
    const int h = at % f.heads, in = at / f.heads % f.heads, p = at / f.heads / f.heads;
    float sum = 0;
    for (int id = 0; id < f.bond_ids; ++id) {
      float mean = 0;
      for (int r = 0; r < f.rows_per_id; ++r)
        mean += f.bond[f.rows[id * f.rows_per_id + r] * f.heads + in] / static_cast<float>(f.rows_per_id);
      sum += mean * f.table[(p * f.bond_ids + id) * f.heads + h];
    }
    f.dhop_weight[at] += sum;
  } else if (at < weights + bonds) {
    const int row = (at - weights) / f.heads, in = (at - weights) % f.heads;
    float sum = 0;
    for (int id = 0; id < f.bond_ids; ++id)
      for (int r = 0; r < f.rows_per_id; ++r) {
        if (f.rows[id * f.rows_per_id + r] != row) continue;
        for (int p = 0; p < f.hops; ++p)
          for (int h = 0; h < f.heads; ++h)
            sum += f.table[(p * f.bond_ids + id) * f.heads + h] * f.hop_weight[(p * f.heads + in) * f.heads + h];
      }
    f.dbond[at - weights] += sum / static_cast<float>(f.rows_per_id);
  }
}

}  // namespace molgraph::cuda
