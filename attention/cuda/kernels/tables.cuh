// Sums into the rows of tables, by relation class or by token, and values computed from relation tables before a pass.
// One block per slice sums each row in a fixed order. No sum uses atomic additions.
#pragma once

#include "attention/cuda/kernels/device.cuh"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

inline constexpr int kTableThreads = 128;

/// out[slice][row] += sum of from[e] over the slice's entries e that have this row.
struct TableGradient {
  const float* from = nullptr;  ///< [entries, width]
  std::int64_t entries = 0;
  int width = 0, rows = 0, slices = 1;
  std::int64_t slice_stride = 0;
  float* out = nullptr;                                  ///< slice 0: [rows, width]
  const std::uint32_t* classes = nullptr;                ///< [entries]; kNoClass: no row
  RelationTable::Row by = RelationTable::Row::topology;  ///< class that selects the row; all: row 0; walk: entries use
                                                         ///< the table's rows in turn
  const std::int32_t* ids = nullptr;                     ///< [entries] rows, used instead of classes; -1: no row
  int last_row = 1 << 30;                                ///< larger row numbers are replaced with this one
  int first_row = 0;                                     ///< first row in `out`
};
__device__ __forceinline__ int row_of(const TableGradient& p, std::int64_t entry) {
  int row;
  if (p.ids != nullptr) {
    row = p.ids[entry];
  } else if (p.by == RelationTable::Row::walk) {
    row = static_cast<int>(entry % p.rows);
  } else {
    const std::uint32_t classes = p.classes[entry];
    if (classes == kNoClass) return -1;
    row = p.by == RelationTable::Row::all
              ? 0
              : static_cast<int>(p.by == RelationTable::Row::edge ? edge_of(classes) : topology_of(classes));
  }
  return row < p.last_row ? row : p.last_row;
}
inline constexpr int kTablesPerLaunch = 16, kSumThreads = 512, kSumChannels = 128;
struct TableGroup {
  TableGradient of[kTablesPerLaunch];
};

// Block (row, slice, table). Each warp reads 32 entries at a time and adds those of the row in order, several at once
// so that their loads overlap. Then the warps' sums are added in order.
__global__ void __launch_bounds__(kSumThreads) table_gradient_kernel(TableGroup group) {
  constexpr int kEach = kSumChannels / 32, kAtOnce = 4;
  const TableGradient& p = group.of[blockIdx.z];
  const int row = static_cast<int>(blockIdx.x), slice = static_cast<int>(blockIdx.y);
  if (row >= p.rows || slice >= p.slices) return;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<float*>(memory);  // [warps, channels]
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const std::int64_t share = (p.entries + p.slices - 1) / p.slices, first = slice * share;
  const std::int64_t last = first + share < p.entries ? first + share : p.entries;
  for (int begin = 0; begin < p.width; begin += kSumChannels) {
    float sum[kEach] = {};
    for (std::int64_t base = first + 32 * warp; base < last; base += blockDim.x) {
      unsigned found = __ballot_sync(0xFFFFFFFFu, base + lane < last && row_of(p, base + lane) == p.first_row + row);
      while (found != 0) {
        float value[kAtOnce][kEach] = {};
        for (int a = 0; a < kAtOnce; ++a, found &= found - 1) {
          if (found == 0) continue;  // true for the whole warp
          const float* from = p.from + (base + __ffs(found) - 1) * p.width + begin;
          for (int k = 0; k < kEach; ++k)
            if (begin + lane + 32 * k < p.width) value[a][k] = from[lane + 32 * k];
        }
        for (int a = 0; a < kAtOnce; ++a)
          for (int k = 0; k < kEach; ++k) sum[k] += value[a][k];
      }
    }
    for (int k = 0; k < kEach; ++k) sums[warp * kSumChannels + lane + 32 * k] = sum[k];
    __syncthreads();
    for (int c = static_cast<int>(threadIdx.x); c < kSumChannels && begin + c < p.width;
         c += static_cast<int>(blockDim.x)) {
      float total = 0;
      for (unsigned w = 0; w < blockDim.x / 32; ++w) total += sums[w * kSumChannels + c];
      p.out[slice * p.slice_stride + static_cast<std::int64_t>(row) * p.width + begin + c] += total;
    }
    __syncthreads();
  }
}

/// Copies the batch's relation classes [total] from the resident ones; filler gets kNoClass. One block per molecule.
__global__ void __launch_bounds__(kTableThreads)
    gather_classes_kernel(const Molecule* molecules, const std::uint32_t* classes, std::int64_t total,
                          std::uint32_t* out) {
  const Molecule& m = molecules[blockIdx.x];
  for (int r = static_cast<int>(threadIdx.x); r < m.relations; r += kTableThreads)
    out[m.relation + r] = classes[m.relation_at + r];
  if (blockIdx.x + 1 < gridDim.x) return;
  for (std::int64_t r = m.relation + m.relations + threadIdx.x; r < total; r += kTableThreads) out[r] = kNoClass;
}

// --- b[t] [T, H]: rows of a table, plus Transformer-XL's alpha v.PQ[t] (Dai et al. 2019, section 3.3) ---

struct ClassBias {
  const float* table = nullptr;                         ///< [rows, H]; null = none
  const float* position_bias = nullptr;                 ///< v [C]; null = none
  const float* query = nullptr;                         ///< PQ [T, C]
  int classes = 0, last_row = 0, heads = 0, width = 0;  ///< width of a head
  float scale = 1;
};
__global__ void __launch_bounds__(kTableThreads) class_bias_kernel(ClassBias p, float* out) {
  const int at = static_cast<int>(blockIdx.x) * kTableThreads + static_cast<int>(threadIdx.x);
  if (at >= p.classes * p.heads) return;
  const int t = at / p.heads, h = at % p.heads;
  float value = p.table == nullptr ? 0.0f : p.table[(t < p.last_row ? t : p.last_row) * p.heads + h];
  for (int c = h * p.width; p.position_bias != nullptr && c < (h + 1) * p.width; ++c)
    value += p.scale * p.position_bias[c] * p.query[t * p.heads * p.width + c];
  out[at] = value;
}
/// `slope` [slices, T, H]. One thread per channel.
__global__ void __launch_bounds__(kTableThreads)
    position_bias_gradient_kernel(ClassBias p, const float* slope, int slices, float* dposition_bias, float* dquery) {
  const int c = static_cast<int>(blockIdx.x) * kTableThreads + static_cast<int>(threadIdx.x), inner = p.heads * p.width;
  if (c >= inner) return;
  float total = 0;
  for (int t = 0; t < p.classes; ++t) {
    float sum = 0;
    for (int s = 0; s < slices; ++s) sum += slope[(s * p.classes + t) * p.heads + c / p.width];
    total += p.scale * sum * p.query[t * inner + c];
    dquery[t * inner + c] += p.scale * sum * p.position_bias[c];
  }
  dposition_bias[c] += total;
}

}  // namespace molgraph::cuda
