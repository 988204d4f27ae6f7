// The attention of docs/models/formula.md section 2, forward. For the backward pass, see attention_gradient.cuh.
//
// A group of lanes (a warp, or half a warp for small molecules) computes one head of one molecule, for as many queries
// at a time as it has lanes. Each lane has one query (a row of the scores), so softmax, gate, dropout and sums by
// relation need no other lane, and all lanes read the same key, value or table row together. All data of a group is in
// its own part of shared memory. For a molecule that is too large for this, the same arrays are in global memory.
//
// "by relation": the molecule's distinct (topology class, edge class) pairs, numbered from 0 (molecules.hpp).
#pragma once

#include "attention/cuda/kernels/attention_walks.cuh"

namespace molgraph::cuda {

/// Task of a group of lanes: a molecule, a head and the arrays. `Walks`: with the part in attention_walks.cuh; a
/// compile-time constant, so that other models do no extra work. `Line`: GroupArrays::line, or 0 for any.
template <class E, int Lanes, bool Walks, int Line>
struct GroupTask {
  static constexpr int kLanes = Lanes, kScoreLine = score_line(Lanes);
  const Attention<E>& p;
  const int number;                       ///< of the molecule in the batch
  const Molecule m;                       // a copy, which stays in registers: stores could change the original
  int head, lane, n, d, inner, key_line;  ///< inner: C, the width of all heads
  LineLength<Line> line;
  std::int64_t first_pair;  ///< of this head in pair_bias and pair_gate
  GroupArrays at;
  float* base;
  const std::uint16_t* relation;

  __device__ __forceinline__ GroupTask(const Attention<E>& attention, int task, const GroupArrays& arrays, float* first)
      : p(attention), number(p.chosen[task / p.heads]), m(p.molecules[number]), head(task % p.heads),
        lane(static_cast<int>(threadIdx.x % Lanes)), n(m.tokens), d(attention.width), inner(attention.heads * d),
        key_line(arrays.key_line), line(arrays.line),
        first_pair(m.pair * attention.heads + static_cast<std::int64_t>(head) * n * n), at(arrays), base(first),
        relation(attention.relation + m.pair_at) {}

  /// Barrier of the group.
  __device__ __forceinline__ static void sync() {
    __syncwarp(Lanes == 32 ? 0xFFFFFFFFu : 0xFFFFu << (threadIdx.x & 16));
  }
  /// Relation of query i and key j; key_relation_of(): that of the key term.
  __device__ __forceinline__ int relation_of(int i, int j) const { return relation[j * n + i]; }
  __device__ __forceinline__ int key_relation_of(int i, int j) const {
    return p.reversed ? relation[i * n + j] : relation[j * n + i];
  }
  __device__ __forceinline__ std::int64_t pair_at(int i, int j) const {  // index in pair_bias and pair_gate
    return first_pair + j * n + i;
  }
  __device__ __forceinline__ bool forbidden(int i, int j) const { return p.forbidden[m.pair_at + j * n + i] != 0; }

  /// load_then_store() of the lane's share of `count` elements.
  template <class Load, class Store>
  __device__ __forceinline__ void each_element(int count, const Load& load, const Store& store) const {
    load_then_store<4>(lane, kLanes, count, load, store);
  }
  /// sum_then_store() of the lane's share of `count` elements.
  template <class Load, class Term, class Store>
  __device__ __forceinline__ void each_sum(int count, int terms, float factor, const Load& load, const Term& term,
                                           const Store& store) const {
    sum_then_store<4>(lane, kLanes, count, terms, factor, load, term, store);
  }
  /// Calls part(keys, count) for groups of kTogether keys: keys[u] = first + u, or the last key if u >= count.
  template <class Part>
  __device__ __forceinline__ void in_groups(const Part& part) const {
#pragma unroll 1
    for (int first = 0; first < n; first += kTogether) {
      int keys[kTogether];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) keys[u] = first + u < n ? first + u : n - 1;
      part(keys, n - first < kTogether ? n - first : kTogether);
    }
  }

  /// Loads the rows [n, line] of this head from [tokens, stride], zero beyond the width.
  __device__ __forceinline__ void load_rows(const E* from, std::int64_t stride, float* to) const {
    each_element(
        n * line,
        [&](int e) {
          const int i = e / line, c = e % line;
          return c < d ? to_float(from[(m.token + i) * stride + head * d + c]) : 0.0f;
        },
        [&](int e, float value) { to[e] = value; });
  }
  __device__ __forceinline__ void load_relation_rows(const TableRows& tables, float* to) const {
    each_element(
        m.relations * line,
        [&](int e) {
          const int c = e % line, channel = head * d + c;
          const std::uint32_t classes = p.classes[m.relation_at + e / line];
          float value = 0;
          if (c < d) {
            if (tables.topology != nullptr)
              value += tables.topology[static_cast<std::int64_t>(topology_of(classes)) * inner + channel];
            if (tables.edge != nullptr)
              value += tables.edge[static_cast<std::int64_t>(edge_of(classes)) * inner + channel];
            if (tables.all != nullptr) value += tables.all[channel];
          }
          return value;
        },
        [&](int e, float value) { to[e] = value; });
  }
  /// The block of draws that contains the first weight of this head.
  __device__ __forceinline__ std::uint32_t first_draw() const { return static_cast<std::uint32_t>(head * n * n) / 8; }
  /// Draws for all pairs of the head, each block once: bit e of byte b belongs to element 8 (first_draw() + b) + e.
  __device__ __forceinline__ void draw_kept() const {
    auto* kept = reinterpret_cast<std::uint8_t*>(base + at.kept);
    const std::uint32_t first = first_draw(), last = (static_cast<std::uint32_t>((head + 1) * n * n) + 7) / 8;
#pragma unroll 1
    for (std::uint32_t block = first + static_cast<std::uint32_t>(lane); block < last; block += kLanes) {
      kept[block - first] = static_cast<std::uint8_t>(kept_block(p.dropout, m.row, block));
    }
  }
  /// Dropout factor of the weight of query i and key j.
  __device__ __forceinline__ float keep_of(int i, int j) const {
    if (p.dropout.threshold == 0) return 1.0f;
    const auto element = static_cast<std::uint32_t>((head * n + i) * n + j);
    const auto* kept = reinterpret_cast<const std::uint8_t*>(base + at.kept);
    return (kept[element / 8 - first_draw()] >> element % 8 & 1) != 0 ? p.dropout.scale : 0.0f;
  }

  /// Loads everything that does not depend on the queries. A barrier must follow.
  __device__ __forceinline__ void load() const {
    const TermTables& t = p.tables;
    load_rows(p.qkv + inner, 3 * inner, base + at.k);
    load_rows(p.qkv + 2 * inner, 3 * inner, base + at.v);
    if (t.query.any()) load_relation_rows(t.query, base + at.query_rows);
    if (t.key.any()) load_relation_rows(t.key, base + at.key_rows);
    if (t.value.any()) load_relation_rows(t.value, base + at.value_rows);
#pragma unroll 1
    for (int r = lane; r < m.relations; r += kLanes) {
      const std::uint32_t topology = topology_of(p.classes[m.relation_at + r]);
      if (t.bias != nullptr) base[at.bias + r] = t.bias[topology * p.heads + head];
      if (t.gate != nullptr) base[at.gate + r] = t.gate[topology * p.heads + head];
    }
    if (p.dropout.threshold != 0) draw_kept();
    sync();
    if constexpr (Walks) load_walk_rows(*this);
    if (!t.key.any() || p.key_by_row) return;
#pragma unroll 1
    for (int j = lane; j < n; j += kLanes)  // by_key[r, j] = alpha k_j . key row r
      in_parts([&]<int U>(int c) {
        float k[U];
        load_part(base + at.k + j * line + c, k);
        add_products(k, base + at.key_rows, m.relations, p.scale, c, c == 0, base + at.by_key + j, key_line);
      });
  }

  /// Calls part<U>(first channel) over the head's width, U channels at a time.
  template <class Part>
  __device__ __forceinline__ void in_parts(const Part& part) const {
    if constexpr (Line > 0) {
      part.template operator()<Line>(0);
    } else {
      int c = 0;
      for (; c + 12 <= line; c += 12) part.template operator()<12>(c);
      for (; c + 8 <= line; c += 8) part.template operator()<8>(c);
      for (; c < line; c += 4) part.template operator()<4>(c);
    }
  }
  // Rows consist of groups of four channels, which are one load.
  template <int U>
  __device__ __forceinline__ static void load_part(const float* from, float (&x)[U]) {
    for (int u = 0; u < U; u += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + u);
      x[u] = four.x, x[u + 1] = four.y, x[u + 2] = four.z, x[u + 3] = four.w;
    }
  }
  template <int U>
  __device__ __forceinline__ static float dot(const float (&x)[U], const float* y) {
    float sum = 0;
    for (int u = 0; u < U; u += 4) {
      const float4 four = *reinterpret_cast<const float4*>(y + u);
      sum += x[u] * four.x + x[u + 1] * four.y + (x[u + 2] * four.z + x[u + 3] * four.w);
    }
    return sum;
  }
  template <int U>
  __device__ __forceinline__ static void add_scaled(float (&x)[U], float factor, const float* y) {
    for (int u = 0; u < U; u += 4) {
      const float4 four = *reinterpret_cast<const float4*>(y + u);
      x[u] += factor * four.x, x[u + 1] += factor * four.y, x[u + 2] += factor * four.z, x[u + 3] += factor * four.w;
    }
  }
  /// Loads U channels of the row of token i from the batch's [tokens, stride] values, times `factor`.
  template <int U>
  __device__ __forceinline__ void load_global(const E* from, std::int64_t stride, int i, int c, float factor,
                                              float (&x)[U]) const {
    const E* row = from + (m.token + i) * stride + head * d + c;
    for (int u = 0; u < U; ++u) x[u] = c + u < d ? factor * to_float(row[u]) : 0.0f;
  }

  /// to[r*distance] (+)= factor * (row . rows[r]) over this part's channels, for r below `count`.
  template <int U>
  __device__ __forceinline__ void add_products(const float (&row)[U], const float* rows, int count, float factor, int c,
                                               bool overwrite, float* to, int distance) const {
    add_each<4>(count, distance, to, overwrite, [&](int r) { return factor * dot(row, rows + r * line + c); });
  }

  /// Writes the softmax a_ij of the lane's query i to scores[j*33 + lane].
  __device__ __forceinline__ void softmax_row(int i) const {
    float *scores = base + at.scores + lane, *by_query = base + at.by_query;
    const TermTables& t = p.tables;
    const bool by_row = t.query.any() || (t.key.any() && p.key_by_row), by_column = t.key.any() && !p.key_by_row;
    in_parts([&]<int U>(int c) {
      float q[U];
      load_global(p.qkv, 3 * inner, i, c, p.scale, q);
      add_each<4>(n, kScoreLine, scores, c == 0, [&](int j) { return dot(q, base + at.k + j * line + c); });
      if (t.query.any()) add_products(q, base + at.query_rows, m.relations, 1.0f, c, c == 0, by_query + lane, kLanes);
      if (!t.key.any() || !p.key_by_row) return;
      float k[U];
      load_global(p.qkv + inner, 3 * inner, i, c, p.scale, k);
      add_products(k, base + at.key_rows, m.relations, 1.0f, c, c == 0 && !t.query.any(), by_query + lane, kLanes);
    });
    if constexpr (Walks) add_walk_scores(*this, i, scores);
    float largest = 2 * kForbidden;
    in_groups([&](const int(&keys)[kTogether], int count) {
      int r[kTogether], key_r[kTogether] = {};
      float score[kTogether], bias[kTogether] = {};
      each([&](int u) { r[u] = relation_of(i, keys[u]); });
      if (by_column) each([&](int u) { key_r[u] = key_relation_of(i, keys[u]); });
      if (p.pair_bias != nullptr) each([&](int u) { bias[u] = p.pair_bias[pair_at(i, keys[u])]; });
      each([&](int u) { score[u] = scores[keys[u] * kScoreLine]; });
      if (t.bias != nullptr) each([&](int u) { score[u] += base[at.bias + r[u]]; });
      if (by_row) each([&](int u) { score[u] += by_query[r[u] * kLanes + lane]; });
      if (by_column) each([&](int u) { score[u] += base[at.by_key + key_r[u] * key_line + keys[u]]; });
      if (p.pair_bias != nullptr) each([&](int u) { score[u] += bias[u]; });
      if (p.forbidden != nullptr) each([&](int u) { score[u] = forbidden(i, keys[u]) ? kForbidden : score[u]; });
      each([&](int u) {
        if (u < count) scores[keys[u] * kScoreLine] = score[u];
        largest = fmaxf(largest, score[u]);
      });
    });
    float total = 0;
    load_then_store<kTogether>(
        0, 1, n, [&](int j) { return expf(scores[j * kScoreLine] - largest); },
        [&](int j, float e) {
          scores[j * kScoreLine] = e;
          total += e;
        });
    const float share = largest > 0.1f * kForbidden ? 1.0f / total : 0.0f;  // zero if no key is allowed
    load_then_store<kTogether>(
        0, 1, n, [&](int j) { return scores[j * kScoreLine] * share; },
        [&](int j, float a) { scores[j * kScoreLine] = a; });
  }

  /// Relations and gates of query i and a group of keys.
  __device__ __forceinline__ void load_group(int i, const int (&keys)[kTogether], int (&r)[kTogether],
                                             float (&gate)[kTogether]) const {
    each([&](int u) { r[u] = relation_of(i, keys[u]); });
    const bool gated = p.tables.gate != nullptr;
    each([&](int u) { gate[u] = gated && p.pair_gate != nullptr ? p.pair_gate[pair_at(i, keys[u])] : 0.0f; });
    each([&](int u) { gate[u] = gated ? gate[u] + base[at.gate + r[u]] : 1.0f; });
    if (p.gate_relu) each([&](int u) { gate[u] = fmaxf(gate[u], 0.0f); });
  }
};

template <class E, int Lanes, bool Walks, int Line>
__device__ __forceinline__ void attend(const GroupTask<E, Lanes, Walks, Line>& w) {
  constexpr int kLine = score_line(Lanes);
  w.load();
  w.sync();
  float *scores = w.base + w.at.scores + w.lane, *by_value = w.base + w.at.by_value + w.lane;
  const bool values = w.p.tables.value.any();
  for (int i = w.lane; i < w.n; i += Lanes) {
    w.softmax_row(i);
#pragma unroll 4
    for (int r = 0; values && r < w.m.relations; ++r) by_value[r * Lanes] = 0;
    w.in_groups([&](const int(&keys)[kTogether], int count) {
      int r[kTogether];
      float weight[kTogether], gate[kTogether], keep[kTogether];
      each([&](int u) { weight[u] = scores[keys[u] * kLine]; });
      w.load_group(i, keys, r, gate);
      each([&](int u) { keep[u] = w.keep_of(i, keys[u]); });
      each([&](int u) { weight[u] *= gate[u] * keep[u]; });
      each([&](int u) {
        if (u >= count) return;
        scores[keys[u] * kLine] = weight[u];
        if (values) by_value[r[u] * Lanes] += weight[u];
      });
    });
    if constexpr (Walks) sum_walks(w, i, scores, nullptr);
    w.in_parts([&]<int U>(int c) {
      float z[U] = {};
#pragma unroll 4
      for (int j = 0; j < w.n; ++j) w.add_scaled(z, scores[j * kLine], w.base + w.at.v + j * w.line + c);
#pragma unroll 4
      for (int r = 0; values && r < w.m.relations; ++r)
        w.add_scaled(z, by_value[r * Lanes], w.base + w.at.value_rows + r * w.line + c);
      if constexpr (Walks) add_walk_rows(w, w.p.walks.value, w.at.walks.by_value, w.at.walks.value_rows, c, z);
      E* to = w.p.z + (w.m.token + i) * w.inner + w.head * w.d + c;
      for (int u = 0; u < U; ++u)
        if (c + u < w.d) to[u] = from_float<E>(z[u]);
    });
  }
}

/// Calls work(task) for every task of this group. A block has one group of 32 lanes or two of 16, each with its own
/// arrays, in shared memory (`OnChip`) or in p.scratch. This is a compile-time constant, so that the compiler knows the
/// kind of load.
template <bool OnChip, int Lanes, bool Walks, int Line, class E, class Work>
__device__ __forceinline__ void for_each_task(const Attention<E>& p, bool gradient, const Work& work) {
  extern __shared__ __align__(16) unsigned char memory[];
  const GroupArrays at = group_arrays(Lanes, p.max_tokens, p.max_relations, p.width, p.tables, p.key_by_row,
                                      Walks ? p.walks : WalkTables{}, p.dropout.threshold != 0, gradient);
  const int groups = static_cast<int>(blockDim.x / Lanes), group = static_cast<int>(threadIdx.x / Lanes);
  const int slot = static_cast<int>(blockIdx.x) * groups + group;
  float* base = OnChip ? reinterpret_cast<float*>(memory) + group * at.size : p.scratch + slot * at.size;
  for (int task = slot; task < p.count * p.heads; task += static_cast<int>(gridDim.x) * groups) {
    if (p.chosen[task / p.heads] < 0) continue;  // filler
    work(GroupTask<E, Lanes, Walks, Line>(p, task, at, base));
    GroupTask<E, Lanes, Walks, Line>::sync();
  }
}

template <class E, bool OnChip, int Lanes, bool Walks, int Line>
__global__ void __launch_bounds__(kAttentionThreads, kAttentionBlocks) attention_kernel(Attention<E> p) {
  for_each_task<OnChip, Lanes, Walks, Line>(p, false, [](const GroupTask<E, Lanes, Walks, Line>& w) { attend(w); });
}

/// Calls run<Walks, Line>() for the variant of the kernels that computes `p`.
template <class E, class Run>
void with_variant(const Attention<E>& p, const Run& run) {
  const auto of_line = [&]<bool Walks>() {
    head_line(p.width) == kNarrowLine ? run.template operator()<Walks, kNarrowLine>()
                                      : run.template operator()<Walks, 0>();
  };
  p.walks.any() ? of_line.template operator()<true>() : of_line.template operator()<false>();
}

/// Number of groups of a launch whose arrays are in global memory.
inline constexpr int kScratchGroups = 264;

/// Launches one of the kernels for the chosen molecules: half warps, whole warps, or whole warps with arrays in global
/// memory.
template <int Lanes, class E, class Kernel, class... More>
bool launch_on_chip(Stream stream, Kernel kernel, Attention<E> p, bool gradient, const More&... more) {
  const GroupArrays at = group_arrays(Lanes, p.max_tokens, p.max_relations, p.width, p.tables, p.key_by_row, p.walks,
                                      p.dropout.threshold != 0, gradient);
  constexpr int groups = kAttentionThreads / Lanes;
  if (groups * at.size * 4 > static_cast<std::int64_t>(shared_memory_limit())) return false;
  launch(stream, kernel, blocks_for(p.count * p.heads, groups), kAttentionThreads,
         static_cast<std::size_t>(groups * at.size * 4), p, more...);
  return true;
}
template <class E, class Kernel, class... More>
void launch_attention(Stream stream, Kernel half, Kernel whole, Kernel in_memory, Attention<E> p, Array<float>& scratch,
                      bool gradient, const More&... more) {
  if (p.count == 0) return;
  if (p.max_tokens <= kHalfWarp && launch_on_chip<kHalfWarp>(stream, half, p, gradient, more...)) return;
  if (launch_on_chip<32>(stream, whole, p, gradient, more...)) return;
  const GroupArrays at = group_arrays(32, p.max_tokens, p.max_relations, p.width, p.tables, p.key_by_row, p.walks,
                                      p.dropout.threshold != 0, gradient);
  const int groups = p.count * p.heads < kScratchGroups ? p.count * p.heads : kScratchGroups;
  p.scratch = scratch.sized(static_cast<std::size_t>(groups * at.size));
  launch(stream, in_memory, static_cast<unsigned>(groups), kAttentionThreads, 0, p, more...);
}
template <class E>
void attention(Stream stream, const Attention<E>& p, Array<float>& scratch) {
  with_variant(p, [&]<bool Walks, int Line>() {
    launch_attention(stream, attention_kernel<E, true, kHalfWarp, Walks, Line>,
                     attention_kernel<E, true, 32, Walks, Line>, attention_kernel<E, false, 32, Walks, 0>, p, scratch,
                     false);
  });
}

}  // namespace molgraph::cuda
