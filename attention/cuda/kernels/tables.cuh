// Sums into the rows of tables, and what is made of tables before a pass: by relation class, by token, and the bias of tokens'
// places. Every row is summed by one block per slice in a fixed order; nothing is added atomically.
#pragma once

#include <algorithm>

#include "featurize/graph/vocabulary.hpp"
#include "attention/cuda/kernels/device.cuh"
#include "attention/spec/random.hpp"

namespace molgraph::MOLGRAPH_CUDA {

inline constexpr int kTableThreads = 128;
inline constexpr std::uint32_t kNoClass = 0xFFFFFFFFu;

/// out[slice][row] += sum over the slice's entries e with that row of from[e].
struct TableGradient {
  const float* from = nullptr;        ///< [entries, width]
  std::int64_t entries = 0;
  int width = 0, rows = 0, slices = 1;
  std::int64_t slice_stride = 0;
  float* out = nullptr;               ///< slice 0: [rows, width]
  enum class By : std::uint8_t { topology, edge, none };
  const std::uint32_t* classes = nullptr;   ///< [entries]; kNoClass: no row
  By by = By::topology;                     ///< which class is the row; none: row 0
  const std::int32_t* ids = nullptr;        ///< [entries] rows, instead of classes; -1: none
  int last_row = 1 << 30;                   ///< larger rows are this one
  int first_row = 0;                        ///< what `out` begins with
};
__device__ __forceinline__ int row_of(const TableGradient& p, std::int64_t entry) {
  int row;
  if (p.ids != nullptr) {
    row = p.ids[entry];
  } else {
    const std::uint32_t classes = p.classes[entry];
    if (classes == kNoClass) return -1;
    row = p.by == TableGradient::By::none ? 0 : static_cast<int>(p.by == TableGradient::By::edge ? classes >> 16 : classes & 0xFFFF);
  }
  return row < p.last_row ? row : p.last_row;
}
inline constexpr int kTablesPerLaunch = 16, kSumThreads = 512, kSumChannels = 128;
struct TableGroup {
  TableGradient of[kTablesPerLaunch];
};

// Block (row, slice, table). Each warp looks at 32 entries at a time and adds those of the row, in order, some at once so that their
// loads overlap; then the warps' sums are added in order.
__global__ void __launch_bounds__(kSumThreads) table_gradient_kernel(TableGroup group) {
  constexpr int kEach = kSumChannels / 32, kAtOnce = 4;
  const TableGradient& p = group.of[blockIdx.z];
  const int row = static_cast<int>(blockIdx.x), slice = static_cast<int>(blockIdx.y);
  if (row >= p.rows || slice >= p.slices) return;
  MOLGRAPH_SHARED_MEMORY(memory);
  auto* sums = reinterpret_cast<float*>(memory);   // [warps, channels]
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
          if (found == 0) continue;   // of the whole warp
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
    for (int c = static_cast<int>(threadIdx.x); c < kSumChannels && begin + c < p.width; c += static_cast<int>(blockDim.x)) {
      float total = 0;
      for (unsigned w = 0; w < blockDim.x / 32; ++w) total += sums[w * kSumChannels + c];
      p.out[slice * p.slice_stride + static_cast<std::int64_t>(row) * p.width + begin + c] += total;
    }
    __syncthreads();
  }
}

/// Tables of which no two are the same one, in few launches.
class TableGradients {
 public:
  explicit TableGradients(Stream stream) : stream_(stream) {}
  void add(const TableGradient& table) {
    group_.of[count_++] = table;
    if (count_ == kTablesPerLaunch) run();
  }
  void run() {
    dim3 grid(0, 0, static_cast<unsigned>(count_));
    unsigned threads = 32;   // no more than a slice has entries
    for (int k = 0; k < count_; ++k) {
      const TableGradient& table = group_.of[k];
      grid.x = std::max(grid.x, static_cast<unsigned>(table.rows));
      grid.y = std::max(grid.y, static_cast<unsigned>(table.slices));
      threads = std::max(threads, std::min(blocks_for(table.entries, table.slices * 32) * 32, unsigned{kSumThreads}));
    }
    launch(stream_, table_gradient_kernel, grid, threads, threads / 32 * kSumChannels * sizeof(float), group_);
    count_ = 0;
  }

 private:
  Stream stream_;
  TableGroup group_;
  int count_ = 0;
};

/// The batch's relation classes [total], out of the resident ones; the rest has none. A block per molecule.
__global__ void __launch_bounds__(kTableThreads) gather_classes_kernel(const Molecule* molecules, const std::uint32_t* classes,
                                                                              std::int64_t total, std::uint32_t* out) {
  const Molecule& m = molecules[blockIdx.x];
  for (int r = static_cast<int>(threadIdx.x); r < m.relations; r += kTableThreads) out[m.relation + r] = classes[m.relation_at + r];
  if (blockIdx.x + 1 < gridDim.x) return;
  for (std::int64_t r = m.relation + m.relations + threadIdx.x; r < total; r += kTableThreads) out[r] = kNoClass;
}

// --- b[t]: rows of the spatial table, plus Transformer-XL's alpha v.PQ[t] (Dai et al. 2019, section 3.3) ---

struct SpatialTable {
  const float* spatial = nullptr;         ///< [rows, H]; null = none
  const float *position_bias = nullptr;   ///< v [C]; null = none
  const float *query = nullptr;           ///< PQ [T, C]
  int classes = 0, last_row = 0, heads = 0, width = 0;   ///< width of a head
  float scale = 1;
};
__global__ void __launch_bounds__(kTableThreads) spatial_kernel(SpatialTable p, float* out) {
  const int at = static_cast<int>(blockIdx.x) * kTableThreads + static_cast<int>(threadIdx.x);
  if (at >= p.classes * p.heads) return;
  const int t = at / p.heads, h = at % p.heads;
  float value = p.spatial == nullptr ? 0.0f : p.spatial[(t < p.last_row ? t : p.last_row) * p.heads + h];
  for (int c = h * p.width; p.position_bias != nullptr && c < (h + 1) * p.width; ++c)
    value += p.scale * p.position_bias[c] * p.query[t * p.heads * p.width + c];
  out[at] = value;
}
/// `slope` [slices, T, H]; a thread per channel.
__global__ void __launch_bounds__(kTableThreads) position_bias_gradient_kernel(SpatialTable p, const float* slope, int slices,
                                                                                      float* dposition_bias, float* dquery) {
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

// --- P_Q(i).P_K(j) of tokens' places (absolute_encodings.hpp) ---

struct AbsoluteTerm {
  const Molecule* molecules = nullptr;
  const TokenPlace* token = nullptr;
  int tokens = 0, heads = 0, rank = 0, steps = 0;
  const std::int32_t* ids = nullptr;    ///< [tokens] row of the tables
  const float* walks = nullptr;         ///< [tokens, steps]
};
/// out [tokens, H*rank] = row table + walks times walk table
__global__ void __launch_bounds__(kTableThreads) absolute_factors_kernel(AbsoluteTerm p, const float* rows, const float* walk, float* out) {
  const int t = static_cast<int>(blockIdx.x), width = p.heads * p.rank;
  if (p.ids[t] < 0) return;
  for (int c = static_cast<int>(threadIdx.x); c < width; c += kTableThreads) {
    float value = rows[static_cast<std::int64_t>(p.ids[t]) * width + c];
    for (int s = 0; s < p.steps; ++s) value += p.walks[static_cast<std::int64_t>(t) * p.steps + s] * walk[static_cast<std::int64_t>(s) * width + c];
    out[static_cast<std::int64_t>(t) * width + c] = value;
  }
}
/// Block per molecule: bias [head, key, query] (+)= query.key
__global__ void __launch_bounds__(kTableThreads) absolute_bias_kernel(AbsoluteTerm p, const float* query, const float* key, bool add,
                                                                             float* bias) {
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
/// Block per token: the gradients of its two factors.
__global__ void __launch_bounds__(kTableThreads) absolute_gradient_kernel(AbsoluteTerm p, const float* slope, const float* query,
                                                                                 const float* key, float* dquery, float* dkey) {
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

// --- node input ---

struct NodeInput {
  int rows = 0, width = 0, columns = 0, position_dim = 0;
  const TokenPlace* token = nullptr;
  const std::int32_t* ids = nullptr;        ///< [columns, rows] of the atom table; -1: none
  const std::int32_t* degree_ids = nullptr; ///< [rows]; -1: none
  const float *atom = nullptr, *virtual_node = nullptr, *in_degree = nullptr, *out_degree = nullptr;
  const float *positions = nullptr, *position_weight = nullptr;   ///< [rows, dim], [C, dim]
  const DrawKey* key = nullptr;             ///< null: not in training
  float noise = 0;
  const float* perturbation = nullptr;      ///< [tokens, C]
  float* x = nullptr;
};
__global__ void __launch_bounds__(kTableThreads) node_input_kernel(NodeInput p) {
  const int row = static_cast<int>(blockIdx.x);
  const TokenPlace token = p.token[row];
  for (int c = static_cast<int>(threadIdx.x); c < p.width; c += kTableThreads) {
    const std::int64_t at = static_cast<std::int64_t>(row) * p.width + c;
    float value = 0;
    if (token.molecule >= 0) {
      if (token.index == 0) value = p.virtual_node[c];
      for (int k = 0; k < p.columns && token.index > 0; ++k)
        value += p.atom[static_cast<std::int64_t>(p.ids[static_cast<std::int64_t>(k) * p.rows + row]) * p.width + c];
      if (p.in_degree != nullptr && token.index > 0) {
        const std::int64_t degree = static_cast<std::int64_t>(p.degree_ids[row]) * p.width + c;
        value += p.in_degree[degree] + p.out_degree[degree];
      }
      if (p.key != nullptr && p.noise > 0 && token.index > 0) {
        const std::uint32_t element = token.index * static_cast<std::uint32_t>(p.width) + static_cast<std::uint32_t>(c);
        std::uint32_t words[4];
        draw_block(*p.key, token.row, static_cast<std::uint32_t>(RandomSite::input_noise), element / 8, words);
        value += p.noise * ((2.0f * static_cast<float>(pick_draw(words, element)) + 1.0f) / 65536.0f - 1.0f);
      }
      for (int k = 0; k < p.position_dim; ++k)
        value += p.positions[static_cast<std::int64_t>(row) * p.position_dim + k] * p.position_weight[c * p.position_dim + k];
      if (p.perturbation != nullptr) value += p.perturbation[at];
    }
    p.x[at] = value;
  }
}

/// Ids of a batch's tokens in the tables, and their positions, out of the resident atoms. Null = not wanted.
struct TokenTables {
  int rows = 0, columns = 0, last_degree = 0, last_absolute = 0, position_dim = 0;
  const Molecule* molecules = nullptr;
  const TokenPlace* token = nullptr;
  const std::uint8_t* atoms = nullptr;            ///< resident [atoms, columns]
  const std::int32_t* degree = nullptr;           ///< resident [atoms]
  const float* atom_positions = nullptr;          ///< resident [atoms, dim]
  std::int32_t column_start[kMostAtomColumns] = {};   ///< first row of each column
  std::int32_t *ids = nullptr, *degree_ids = nullptr, *absolute_ids = nullptr;
  float* positions = nullptr;
  const DrawKey* signs = nullptr;                 ///< random signs of the positions (Dwivedi & Bresson 2020); null = none
};
__global__ void __launch_bounds__(kTableThreads) token_tables_kernel(TokenTables p) {
  const int row = static_cast<int>(blockIdx.x) * kTableThreads + static_cast<int>(threadIdx.x);
  if (row >= p.rows) return;
  const TokenPlace token = p.token[row];
  const bool atom = token.molecule >= 0 && token.index > 0;
  const std::int64_t at = atom ? p.molecules[token.molecule].atom_at + token.index - 1 : 0;
  for (int k = 0; k < p.columns; ++k)
    p.ids[static_cast<std::int64_t>(k) * p.rows + row] = atom ? p.column_start[k] + p.atoms[at * p.columns + k] : -1;
  const int degree = atom ? p.degree[at] : -1;
  if (p.degree_ids != nullptr) p.degree_ids[row] = degree < p.last_degree ? degree : p.last_degree;
  if (p.absolute_ids != nullptr)   // the virtual node's row is the last
    p.absolute_ids[row] = atom ? (degree < p.last_absolute ? degree : p.last_absolute) : token.molecule >= 0 ? p.last_absolute + 1 : -1;
  for (int k = 0; k < p.position_dim; ++k) {
    float value = atom ? p.atom_positions[at * p.position_dim + k] : 0.0f;
    if (p.signs != nullptr && atom) {
      std::uint32_t words[4];
      draw_block(*p.signs, token.row, static_cast<std::uint32_t>(RandomSite::laplacian_sign), static_cast<std::uint32_t>(k) / 8, words);
      if (pick_draw(words, static_cast<std::uint32_t>(k)) >= 32768) value = -value;
    }
    p.positions[static_cast<std::int64_t>(row) * p.position_dim + k] = value;
  }
}

}  // namespace molgraph::MOLGRAPH_CUDA
