// Arguments of the attention kernels, and the arrays of a group of lanes (attention.cuh).
#pragma once

#include "attention/cuda/kernels/device.cuh"

namespace molgraph::cuda {

/// Length of a line of a score tile [keys, lanes], which can be read in both directions without bank conflicts.
__host__ __device__ constexpr int score_line(int lanes) { return lanes + 1; }
/// Threads per block: one warp. A larger block would keep its shared memory until its slowest molecule ends.
inline constexpr int kAttentionThreads = 32;
/// Blocks per multiprocessor, of the forward and the backward pass. This limits a thread to 128 and 168 registers. The
/// backward pass has too much shared memory for more.
inline constexpr int kAttentionBlocks = 16, kGradientBlocks = 10;

/// Keys that a lane processes together, so that their loads overlap.
inline constexpr int kTogether = 8;
/// Calls part(u) for u below kTogether, in an unrolled loop.
template <class Part>
__device__ __forceinline__ void each(const Part& part) {
#pragma unroll
  for (int u = 0; u < kTogether; ++u) part(u);
}

/// Tables [classes, C] whose rows are summed: by topology class, by edge class, one row for all pairs; null = none.
struct TableRows {
  const float *topology = nullptr, *edge = nullptr, *all = nullptr;
  __host__ __device__ bool any() const { return topology != nullptr || edge != nullptr || all != nullptr; }
};
/// Tables of one layer or of all layers.
struct TermTables {
  TableRows query, key, value;
  const float *bias = nullptr, *gate = nullptr;  ///< [T, H]; null = none
};

/// Tables with one row per step of a walk [K, C]; null = none.
struct WalkTables {
  const float *query = nullptr, *key = nullptr, *value = nullptr;
  int steps = 0;                         ///< K
  const float* probabilities = nullptr;  ///< resident; MoleculeArrays::pair_walks
  __host__ __device__ bool any() const { return query != nullptr || key != nullptr || value != nullptr; }
};

/// Arguments of both the forward and the backward pass.
template <class E>
struct Attention {
  const Molecule* molecules = nullptr;
  const std::int32_t* chosen = nullptr;   ///< [count] molecules of this launch
  int count = 0, heads = 0, width = 0;    ///< width of a head
  int max_tokens = 0, max_relations = 0;  ///< of the chosen molecules
  float scale = 1;                        ///< alpha
  bool key_by_row = false, reversed = false;
  bool gate_relu = false;
  const E* qkv = nullptr;                   ///< [tokens, 3C]
  const std::uint16_t* relation = nullptr;  ///< resident; per molecule [key, query]
  const std::uint32_t* classes = nullptr;   ///< resident; relation_word() of each
  const std::uint8_t* forbidden = nullptr;  ///< resident, as `relation`; null = none
  TermTables tables;
  WalkTables walks;
  const float *pair_bias = nullptr, *pair_gate = nullptr;  ///< per molecule [head, key, query]; null = none
  Dropout dropout;
  E* z = nullptr;            ///< [tokens, C]
  float* scratch = nullptr;  ///< for molecules that do not fit into shared memory
};

/// Length of a head's rows in the arrays: the width rounded up to a multiple of 4.
__host__ __device__ constexpr int head_line(int width) { return (width + 3) / 4 * 4; }
/// The length for which the kernels exist a second time, with the length as a constant: heads of 9 to 12 channels.
/// Their code is a third as long. With few molecules, warps mostly wait for instructions.
inline constexpr int kNarrowLine = 12;
/// A length known at compile time, or any if Line is 0.
template <int Line>
struct LineLength {
  __device__ __forceinline__ explicit LineLength(int) {}
  __device__ __forceinline__ operator int() const { return Line; }
};
template <>
struct LineLength<0> {
  int length;
  __device__ __forceinline__ explicit LineLength(int any) : length(any) {}
  __device__ __forceinline__ operator int() const { return length; }
};

/// Offsets of the walks' arrays (attention_walks.cuh).
struct WalkArrays {
  int step_line = 0;  ///< of key_products: steps rounded up to a multiple of 4
  int query_rows = 0, key_rows = 0, value_rows = 0, key_products = 0, by_query = 0, by_value = 0, by_key = 0;
};
/// Offsets of a group's arrays in floats. The host uses only the size.
struct GroupArrays {
  int line = 0;      ///< of k, v, q, dz and the relations' rows: head_line()
  int key_line = 0;  ///< of by_key
  int k = 0, v = 0, q = 0, dz = 0, dk = 0, dv = 0, query_rows = 0, key_rows = 0, value_rows = 0, bias = 0, gate = 0,
      kept = 0, by_query = 0, by_value = 0, by_gate = 0, by_key = 0, scores = 0, weights = 0;
  std::int64_t size = 0;
  WalkArrays walks;
};
__host__ __device__ inline GroupArrays group_arrays(int lanes, int tokens, int relations, int width,
                                                    const TermTables& tables, bool key_by_row, const WalkTables& walks,
                                                    bool dropout, bool gradient) {
  GroupArrays at;
  at.line = head_line(width);
  at.key_line = tokens | 1;
  const auto place = [&at](bool wanted, std::int64_t floats) {
    const int here = static_cast<int>(at.size);
    if (wanted) at.size += (floats + 3) / 4 * 4;
    return here;
  };
  const std::int64_t rows = std::int64_t{tokens} * at.line, of_relations = std::int64_t{relations} * at.line,
                     per_lane = std::int64_t{lanes} * relations;
  at.k = place(true, rows);
  at.v = place(true, rows);
  at.q = place(gradient, rows);
  at.dz = place(gradient, rows);
  at.dk = place(gradient, rows);
  at.dv = place(gradient, rows);
  at.query_rows = place(tables.query.any(), of_relations);
  at.key_rows = place(tables.key.any(), of_relations);
  at.value_rows = place(tables.value.any(), of_relations);
  at.bias = place(tables.bias != nullptr, relations);
  at.gate = place(tables.gate != nullptr, relations);
  at.kept = place(dropout, (std::int64_t{tokens} * tokens / 8 + 2 + 3) / 4);  // one bit per pair, whole blocks of draws
  at.by_query = place(gradient || tables.query.any() || (tables.key.any() && key_by_row), per_lane);
  at.by_value = place(tables.value.any() || (gradient && tables.key.any() && !key_by_row), per_lane);
  at.by_gate = place(gradient && tables.gate != nullptr, per_lane);
  at.by_key = place(tables.key.any() && !key_by_row, std::int64_t{relations} * at.key_line);
  at.scores = place(true, std::int64_t{tokens} * score_line(lanes));
  at.weights = place(gradient, std::int64_t{tokens} * score_line(lanes));
  const std::int64_t of_steps = std::int64_t{walks.steps} * at.line, by_step = std::int64_t{walks.steps} * lanes;
  at.walks.step_line = (walks.steps + 3) / 4 * 4;
  at.walks.query_rows = place(walks.query != nullptr, of_steps);
  at.walks.key_rows = place(walks.key != nullptr, of_steps);
  at.walks.value_rows = place(walks.value != nullptr, of_steps);
  at.walks.key_products = place(walks.key != nullptr, std::int64_t{tokens} * at.walks.step_line);
  at.walks.by_query = place(gradient && walks.query != nullptr, by_step);
  at.walks.by_value = place(walks.value != nullptr, by_step);
  at.walks.by_key = place(gradient && walks.key != nullptr, std::int64_t{walks.steps} * at.key_line);
  return at;
}

}  // namespace molgraph::cuda
