// Backward pass of the attention. A group of lanes recomputes its softmax instead of reading it. Sums over pairs for a
// table stay in the group as sums by relation, so no two groups add to the same value, and the order of every sum is
// fixed.
#pragma once

#include "attention/cuda/kernels/attention.cuh"

namespace molgraph::cuda {

/// Targets of the gradients. dqkv is overwritten. Other targets that are not null are added to (`first`: overwritten).
template <class E>
struct AttentionGradient {
  const E* dz = nullptr;                                                       ///< [tokens, C]
  E* dqkv = nullptr;                                                           ///< [tokens, 3C]
  float *dquery_rows = nullptr, *dkey_rows = nullptr, *dvalue_rows = nullptr;  ///< [relations of the batch, C]
  float *dwalk_query = nullptr, *dwalk_key = nullptr, *dwalk_value = nullptr;  ///< [molecules, K, C]
  float *dbias_rows = nullptr, *dgate_rows = nullptr;                          ///< [relations of the batch, H]
  float *dpair_bias = nullptr, *dpair_gate = nullptr;                          ///< as pair_bias and pair_gate
  bool first = false, first_gate = false, first_pair = false;  ///< of the rows; dgate_rows and dpair_gate; dpair_bias
};

template <class E, int Lanes, bool Walks, int Line>
struct GroupGradient : GroupTask<E, Lanes, Walks, Line> {
  const AttentionGradient<E>& g;
  using Base = GroupTask<E, Lanes, Walks, Line>;
  using Base::at, Base::base, Base::d, Base::head, Base::lane, Base::line, Base::m, Base::n, Base::p;
  using Base::kScoreLine;

  __device__ __forceinline__ GroupGradient(const Base& task, const AttentionGradient<E>& gradient)
      : Base(task), g(gradient) {}

  __device__ __forceinline__ float* by_key_gradient() const { return base + at.by_value; }  // unused by then
  __device__ __forceinline__ bool key_by_column() const { return p.tables.key.any() && !p.key_by_row; }

  /// For the lane's query i: scores become ds_ij, weights w_ij. Sums by relation: by_query (ds), by_value (w), by_gate.
  __device__ __forceinline__ void row(int i) const {
    float *scores = base + at.scores + lane, *weights = base + at.weights + lane;
    float *by_query = base + at.by_query + lane, *by_value = base + at.by_value + lane,
          *by_gate = base + at.by_gate + lane;
    const bool values = p.tables.value.any(), gates = p.tables.gate != nullptr;
    this->softmax_row(i);
    this->in_parts([&]<int U>(int c) {
      float dz[U];
      Base::load_part(base + at.dz + i * line + c, dz);
      add_each<4>(n, kScoreLine, weights, c == 0, [&](int j) { return Base::dot(dz, base + at.v + j * line + c); });
      if (values) this->add_products(dz, base + at.value_rows, m.relations, 1.0f, c, c == 0, by_value, Lanes);
    });
    if constexpr (Walks) add_walk_slopes(*this, i, weights);
    // D_i = sum of a_ij da_ij. a_ij is never negative, so its sign marks a dropped weight.
    float total = 0;
    this->in_groups([&](const int(&keys)[kTogether], int count) {
      int r[kTogether];
      float a[kTogether], dw[kTogether], gate[kTogether], keep[kTogether];
      this->load_group(i, keys, r, gate);
      each([&](int u) { keep[u] = this->keep_of(i, keys[u]); });
      each([&](int u) { a[u] = scores[keys[u] * kScoreLine]; });
      each([&](int u) { dw[u] = weights[keys[u] * kScoreLine]; });
      if (values) each([&](int u) { dw[u] += by_value[r[u] * Lanes]; });
      each([&](int u) {
        if (u >= count) return;
        weights[keys[u] * kScoreLine] = dw[u];
        scores[keys[u] * kScoreLine] = keep[u] == 0 ? -a[u] : a[u];
        total += a[u] * dw[u] * gate[u] * keep[u];
      });
    });
#pragma unroll 2
    for (int r = 0; r < m.relations; ++r) {
      by_query[r * Lanes] = 0;
      if (values) by_value[r * Lanes] = 0;
      if (gates) by_gate[r * Lanes] = 0;
    }
    this->in_groups([&](const int(&keys)[kTogether], int count) {
      int r[kTogether];
      float ds[kTogether], dw[kTogether], gate[kTogether], keep[kTogether], dgate[kTogether], weight[kTogether];
      this->load_group(i, keys, r, gate);
      each([&](int u) { ds[u] = scores[keys[u] * kScoreLine]; });
      each([&](int u) { dw[u] = weights[keys[u] * kScoreLine]; });
      const bool earlier = g.dpair_gate != nullptr && !g.first_gate;
      each([&](int u) { dgate[u] = earlier ? g.dpair_gate[this->pair_at(i, keys[u])] : 0.0f; });
      each([&](int u) {
        const float signed_a = ds[u], a = fabsf(signed_a);
        keep[u] = p.dropout.threshold == 0 ? 1.0f : signbit(signed_a) ? 0.0f : p.dropout.scale;
        ds[u] = a * (dw[u] * gate[u] * keep[u] - total);
        weight[u] = a * gate[u] * keep[u];
        dw[u] = p.gate_relu && gate[u] <= 0 ? 0.0f : a * dw[u] * keep[u];  // of the gate
      });
      each([&](int u) {
        if (u >= count) return;
        scores[keys[u] * kScoreLine] = ds[u];
        weights[keys[u] * kScoreLine] = weight[u];
        by_query[r[u] * Lanes] += ds[u];
        if (values) by_value[r[u] * Lanes] += weight[u];
        if (gates) by_gate[r[u] * Lanes] += dw[u];
        if (g.dpair_gate != nullptr) g.dpair_gate[this->pair_at(i, keys[u])] = dgate[u] + dw[u];
      });
    });
    if (g.dpair_bias != nullptr)
      add_each<kTogether>(n, n, g.dpair_bias + this->pair_at(i, 0), g.first_pair,
                          [&](int j) { return scores[j * kScoreLine]; });
    if constexpr (Walks) sum_walks(*this, i, weights, scores);
    this->in_parts([&]<int U>(int c) {
      float dq[U] = {}, dk[U] = {};
#pragma unroll 4
      for (int j = 0; j < n; ++j) Base::add_scaled(dq, scores[j * kScoreLine], base + at.k + j * line + c);
      if (p.tables.query.any())
#pragma unroll 4
        for (int r = 0; r < m.relations; ++r)
          Base::add_scaled(dq, by_query[r * Lanes], base + at.query_rows + r * line + c);
      if constexpr (Walks) add_walk_rows(*this, p.walks.query, at.walks.by_query, at.walks.query_rows, c, dq);
      E* to = g.dqkv + (m.token + i) * 3 * this->inner + head * d + c;
      for (int u = 0; u < U; ++u)
        if (c + u < d) to[u] = from_float<E>(p.scale * dq[u]);
      if (!p.tables.key.any() || !p.key_by_row) return;
#pragma unroll 4
      for (int r = 0; r < m.relations; ++r)
        Base::add_scaled(dk, by_query[r * Lanes], base + at.key_rows + r * line + c);
      for (int u = 0; u < U; ++u) base[at.dk + i * line + c + u] += p.scale * dk[u];
    });
  }

  /// rows[r] += factor * sum over lanes of by[r, lane] * x[first + lane], for r below `row_count`. `rows` [.., C] begin
  /// with this head's channels.
  __device__ __forceinline__ void add_rows(int row_count, const float* by, const float* x, int first, float factor,
                                           bool overwrite, float* rows) const {
    const int count = n - first < Lanes ? n - first : Lanes;
    this->each_sum(
        row_count * line, count, factor,
        [&](int e) { return overwrite || e % line >= d ? 0.0f : rows[e / line * this->inner + e % line]; },
        [&](int e, int k) { return by[e / line * Lanes + k] * x[(first + k) * line + e % line]; },
        [&](int e, float sum) {
          if (e % line < d) rows[e / line * this->inner + e % line] = sum;
        });
  }
  /// The same for this molecule's relations in the batch.
  __device__ __forceinline__ void relation_rows(const float* by, const float* x, int first, float factor,
                                                bool overwrite, float* rows) const {
    add_rows(m.relations, by, x, first, factor, overwrite, rows + m.relation * this->inner + head * d);
  }
  /// The same without x, for one value per head.
  __device__ __forceinline__ void relation_sums(const float* by, int first, bool overwrite, float* rows) const {
    const int count = n - first < Lanes ? n - first : Lanes;
#pragma unroll 1
    for (int r = lane; r < m.relations; r += Lanes) {
      float sum = 0;
#pragma unroll 4
      for (int k = 0; k < Lanes; ++k) {
        const int query = (k + r) % Lanes;  // lanes begin at different banks
        sum += query < count ? by[r * Lanes + query] : 0.0f;
      }
      float& to = rows[(m.relation + r) * p.heads + head];
      to = overwrite ? sum : to + sum;
    }
  }
  __device__ __forceinline__ void table_rows(int first) const {
    const bool overwrite = g.first && first == 0, overwrite_gate = g.first_gate && first == 0;
    if (g.dquery_rows != nullptr)
      relation_rows(base + at.by_query, base + at.q, first, p.scale, overwrite, g.dquery_rows);
    if (g.dkey_rows != nullptr && p.key_by_row)
      relation_rows(base + at.by_query, base + at.k, first, p.scale, overwrite, g.dkey_rows);
    if (g.dvalue_rows != nullptr)
      relation_rows(base + at.by_value, base + at.dz, first, 1.0f, overwrite, g.dvalue_rows);
    if constexpr (Walks) walk_table_rows(*this, first);
    if (g.dbias_rows != nullptr) relation_sums(base + at.by_query, first, overwrite, g.dbias_rows);
    if (g.dgate_rows != nullptr) relation_sums(base + at.by_gate, first, overwrite_gate, g.dgate_rows);
  }

  /// Adds the contributions of queries [first, last) to the keys [key, key + lanes), one per lane.
  __device__ __forceinline__ void column(int j, int first, int last) const {
    const float *ds = base + at.scores + j * kScoreLine, *weights = base + at.weights + j * kScoreLine;
    float* by_key = by_key_gradient() + lane;
    if (key_by_column()) {
#pragma unroll 4
      for (int r = 0; r < m.relations; ++r) by_key[r * Lanes] = 0;
      load_then_store<kTogether>(
          first, 1, last, [&](int i) { return this->key_relation_of(i, j); },
          [&](int i, int r) { by_key[r * Lanes] += ds[i - first]; });
    }
    this->in_parts([&]<int U>(int c) {
      float dk[U] = {}, dv[U] = {};
#pragma unroll 4
      for (int i = first; i < last; ++i) {
        Base::add_scaled(dk, ds[i - first], base + at.q + i * line + c);
        Base::add_scaled(dv, weights[i - first], base + at.dz + i * line + c);
      }
      if (key_by_column())
#pragma unroll 4
        for (int r = 0; r < m.relations; ++r)
          Base::add_scaled(dk, by_key[r * Lanes], base + at.key_rows + r * line + c);
      for (int u = 0; u < U; ++u) {
        base[at.dk + j * line + c + u] += p.scale * dk[u];
        base[at.dv + j * line + c + u] += dv[u];
      }
    });
  }

  __device__ __forceinline__ void run() const {
    this->load();
    this->load_rows(p.qkv, 3 * this->inner, base + at.q);
    this->load_rows(g.dz, this->inner, base + at.dz);
#pragma unroll 1
    for (int e = lane; e < n * line; e += Lanes) base[at.dk + e] = base[at.dv + e] = 0;
    Base::sync();
    for (int first = 0; first < n; first += Lanes) {
      const int last = first + Lanes < n ? first + Lanes : n;
      if (first + lane < last) row(first + lane);
      Base::sync();
      table_rows(first);
      Base::sync();
      for (int key = 0; key < n; key += Lanes) {
        if (key + lane < n) column(key + lane, first, last);
        Base::sync();
        if (key_by_column() && g.dkey_rows != nullptr) {
          relation_rows(by_key_gradient(), base + at.k, key, p.scale, g.first && first == 0 && key == 0, g.dkey_rows);
          Base::sync();
        }
      }
      if constexpr (Walks) sum_walks_by_key(*this, first, last);
    }
    if constexpr (Walks) walk_keys_back(*this);
#pragma unroll 1
    for (int e = lane; e < n * line; e += Lanes) {
      const int i = e / line, c = e % line;
      if (c >= d) continue;
      E* to = g.dqkv + (m.token + i) * 3 * this->inner + head * d + c;
      to[this->inner] = from_float<E>(base[at.dk + e]);
      to[2 * this->inner] = from_float<E>(base[at.dv + e]);
    }
  }
};

template <class E, bool OnChip, int Lanes, bool Walks, int Line>
__global__ void __launch_bounds__(kAttentionThreads, kGradientBlocks)
    attention_gradient_kernel(Attention<E> p, AttentionGradient<E> g) {
  for_each_task<OnChip, Lanes, Walks, Line>(
      p, true, [&g](const GroupTask<E, Lanes, Walks, Line>& w) { GroupGradient<E, Lanes, Walks, Line>(w, g).run(); });
}
template <class E>
void attention_gradient(Stream stream, const Attention<E>& p, const AttentionGradient<E>& g, Array<float>& scratch) {
  with_variant(p, [&]<bool Walks, int Line>() {
    launch_attention(stream, attention_gradient_kernel<E, true, kHalfWarp, Walks, Line>,
                     attention_gradient_kernel<E, true, 32, Walks, Line>,
                     attention_gradient_kernel<E, false, 32, Walks, 0>, p, scratch, true, g);
  });
}

}  // namespace molgraph::cuda
