// Walk tables in the attention, forward and backward: tables with one row per step (RelationTable::Row::walk), weighted
// by the pair's probabilities r_ij[t] (spec/walks.hpp):
//     s_ij += alpha (q_i.WQ[t] + k_j.WK[t]) r_ij[t],   v_j + WV[t] r_ij[t],   summed over t
// A token's products with the rows are computed first, so a pair costs K multiplications per head for any width. In the
// backward pass, the sums of slopes times r_ij[t] per token are computed first, and then their products with the rows.
// Only kernels of models with such tables contain this part. `Task`: GroupTask or GroupGradient.
#pragma once

#include "attention/cuda/kernels/attention_arrays.cuh"

namespace molgraph::cuda {

inline constexpr int kSteps = 4;       ///< steps that are adjacent in memory, and that a lane processes together
inline constexpr int kWalkLoads = 32;  ///< probabilities that a lane loads before it uses the first

/// r_ij of some steps, w_ij and ds_ij.
struct WalkPair {
  float r[kSteps], weight, slope;
};

/// Calls part(first step) over all steps, kSteps at a time. The last steps may exceed K.
template <class Task, class Part>
__device__ __forceinline__ void in_steps(const Task& w, const Part& part) {
#pragma unroll 1
  for (int t = 0; t < w.p.walks.steps; t += kSteps) part(t);
}
/// Returns r_ij[first .. first + 3] of query i and key j.
template <class Task>
__device__ __forceinline__ const float* walks_of(const Task& w, int i, int j, int first) {
  return walks_of(w.p.walks.probabilities, w.m, w.p.walks.steps, i, j, first);
}
/// sum[t] = row . rows[first + t] over this part's channels.
template <int U, class Task>
__device__ __forceinline__ void add_step_products(const Task& w, const float (&row)[U], const float* rows, int first,
                                                  int c, float (&sum)[kSteps]) {
  for (int t = 0; t < kSteps; ++t)
    if (first + t < w.p.walks.steps) sum[t] += Task::dot(row, rows + (first + t) * w.line + c);
}

/// Loads the tables' rows [steps, line] of this head and computes key_products[j, t] = alpha k_j.WK[t]. The keys must
/// have been loaded.
template <class Task>
__device__ __forceinline__ void load_walk_rows(const Task& w) {
  const WalkTables& walks = w.p.walks;
  const WalkArrays& at = w.at.walks;
  const auto load = [&](const float* table, int to) {
    w.each_element(
        table != nullptr ? walks.steps * w.line : 0,
        [&](int e) { return e % w.line < w.d ? table[e / w.line * w.inner + w.head * w.d + e % w.line] : 0.0f; },
        [&](int e, float value) { w.base[to + e] = value; });
  };
  load(walks.query, at.query_rows);
  load(walks.key, at.key_rows);
  load(walks.value, at.value_rows);
  Task::sync();
#pragma unroll 1
  for (int j = w.lane; walks.key != nullptr && j < w.n; j += Task::kLanes) {
    float* products = w.base + at.key_products + j * at.step_line;
    for (int t = walks.steps; t < at.step_line; ++t) products[t] = 0;
    w.in_parts([&]<int U>(int c) {
      float k[U];
      Task::load_part(w.base + w.at.k + j * w.line + c, k);
      w.add_products(k, w.base + at.key_rows, walks.steps, w.p.scale, c, c == 0, products, 1);
    });
  }
  Task::sync();
}

/// Adds the walk terms to scores[j] of the lane's query i.
template <class Task>
__device__ __forceinline__ void add_walk_scores(const Task& w, int i, float* scores) {
  const WalkTables& walks = w.p.walks;
  if (walks.query == nullptr && walks.key == nullptr) return;
  const WalkArrays& at = w.at.walks;
  in_steps(w, [&](int first) {
    float of_query[kSteps] = {};
    if (walks.query != nullptr)
      w.in_parts([&]<int U>(int c) {
        float q[U];
        w.load_global(w.p.qkv, 3 * w.inner, i, c, w.p.scale, q);
        add_step_products(w, q, w.base + at.query_rows, first, c, of_query);
      });
    load_then_store<kWalkLoads / kSteps>(
        0, 1, w.n,
        [&](int j) {
          float r[kSteps], of_key[kSteps] = {}, sum = 0;
          Task::load_part(walks_of(w, i, j, first), r);
          if (walks.key != nullptr) Task::load_part(w.base + at.key_products + j * at.step_line + first, of_key);
          for (int t = 0; t < kSteps; ++t) sum += (of_query[t] + of_key[t]) * r[t];
          return scores[j * Task::kScoreLine] + sum;
        },
        [&](int j, float score) { scores[j * Task::kScoreLine] = score; });
  });
}

/// For the lane's query i, by_value[t] = sum over keys of weights[j] r_ij[t] and, unless `ds` is null, by_query[t] =
/// the same sum with ds.
template <class Task>
__device__ __forceinline__ void sum_walks(const Task& w, int i, const float* weights, const float* ds) {
  const bool values = w.p.walks.value != nullptr, queries = w.p.walks.query != nullptr && ds != nullptr;
  if (!values && !queries) return;
  const WalkArrays& at = w.at.walks;
  in_steps(w, [&](int first) {
    float of_value[kSteps] = {}, of_query[kSteps] = {};
    load_then_store<kWalkLoads / kSteps>(
        0, 1, w.n,
        [&](int j) {
          WalkPair pair;
          Task::load_part(walks_of(w, i, j, first), pair.r);
          pair.weight = values ? weights[j * Task::kScoreLine] : 0.0f;
          pair.slope = queries ? ds[j * Task::kScoreLine] : 0.0f;
          return pair;
        },
        [&](int, const WalkPair& pair) {
          for (int t = 0; t < kSteps; ++t)
            of_value[t] += pair.weight * pair.r[t], of_query[t] += pair.slope * pair.r[t];
        });
    for (int t = 0; t < kSteps && first + t < w.p.walks.steps; ++t) {
      const int e = (first + t) * Task::kLanes + w.lane;
      if (values) w.base[at.by_value + e] = of_value[t];
      if (queries) w.base[at.by_query + e] = of_query[t];
    }
  });
}
/// x += sum over steps of by[t] rows[t] over this part's channels; `table` null: none.
template <int U, class Task>
__device__ __forceinline__ void add_walk_rows(const Task& w, const float* table, int by, int rows, int c,
                                              float (&x)[U]) {
#pragma unroll 4
  for (int t = 0; table != nullptr && t < w.p.walks.steps; ++t)
    Task::add_scaled(x, w.base[by + t * Task::kLanes + w.lane], w.base + rows + t * w.line + c);
}

// --- backward pass ---

/// dw[j] += sum over t of (dz_i.WV[t]) r_ij[t], for the lane's query i.
template <class Task>
__device__ __forceinline__ void add_walk_slopes(const Task& w, int i, float* dw) {
  if (w.p.walks.value == nullptr) return;
  in_steps(w, [&](int first) {
    float of_query[kSteps] = {};
    w.in_parts([&]<int U>(int c) {
      float dz[U];
      Task::load_part(w.base + w.at.dz + i * w.line + c, dz);
      add_step_products(w, dz, w.base + w.at.walks.value_rows, first, c, of_query);
    });
    load_then_store<kWalkLoads / kSteps>(
        0, 1, w.n,
        [&](int j) {
          float r[kSteps], sum = 0;
          Task::load_part(walks_of(w, i, j, first), r);
          for (int t = 0; t < kSteps; ++t) sum += of_query[t] * r[t];
          return dw[j * Task::kScoreLine] + sum;
        },
        [&](int j, float sum) { dw[j * Task::kScoreLine] = sum; });
  });
}

/// Returns this head's channels of the molecule's rows in [molecules, K, C].
template <class Task>
__device__ __forceinline__ float* walk_gradient_rows(const Task& w, float* rows) {
  const std::int64_t molecule = w.number;
  return rows + molecule * w.p.walks.steps * w.inner + w.head * w.d;
}
/// Adds the contributions of queries [first, first + lanes) to WQ and WV.
template <class Task>
__device__ __forceinline__ void walk_table_rows(const Task& w, int first) {
  const WalkArrays& at = w.at.walks;
  const bool overwrite = w.g.first && first == 0;
  const auto add = [&](int by, int x, float factor, float* rows) {
    w.add_rows(w.p.walks.steps, w.base + by, w.base + x, first, factor, overwrite, walk_gradient_rows(w, rows));
  };
  if (w.g.dwalk_query != nullptr) add(at.by_query, w.at.q, w.p.scale, w.g.dwalk_query);
  if (w.g.dwalk_value != nullptr) add(at.by_value, w.at.dz, 1.0f, w.g.dwalk_value);
}

/// by_key[t, j] (+)= sum over the queries [first, last) of ds_ij r_ij[t]. For each step, its probabilities pass from
/// the lanes of queries to the lanes of keys through the tile of the weights, which is no longer used.
template <class Task>
__device__ __forceinline__ void sum_walks_by_key(const Task& w, int first, int last) {
  if (w.p.walks.key == nullptr) return;
  constexpr int kLine = Task::kScoreLine;
  const float* ds = w.base + w.at.scores;
  float* tile = w.base + w.at.weights;
  for (int t = 0; t < w.p.walks.steps; ++t) {
    if (first + w.lane < last)
      load_then_store<kTogether>(
          0, 1, w.n, [&](int j) { return walks_of(w, first + w.lane, j, t / kSteps * kSteps)[t % kSteps]; },
          [&](int j, float probability) { tile[j * kLine + w.lane] = probability; });
    Task::sync();
#pragma unroll 1
    for (int j = w.lane; j < w.n; j += Task::kLanes) {
      float sum = 0;
#pragma unroll 4
      for (int k = 0; k < last - first; ++k) sum += ds[j * kLine + k] * tile[j * kLine + k];
      float& to = w.base[w.at.walks.by_key + t * w.key_line + j];
      to = first == 0 ? sum : to + sum;
    }
    Task::sync();
  }
}
/// After the last query, adds by_key to the keys and to WK.
template <class Task>
__device__ __forceinline__ void walk_keys_back(const Task& w) {
  if (w.p.walks.key == nullptr) return;
  const int steps = w.p.walks.steps;
  const float* by_key = w.base + w.at.walks.by_key;
  w.each_sum(
      w.n * w.line, steps, w.p.scale, [&](int e) { return w.base[w.at.dk + e]; },
      [&](int e, int t) {
        return by_key[t * w.key_line + e / w.line] * w.base[w.at.walks.key_rows + t * w.line + e % w.line];
      },
      [&](int e, float sum) { w.base[w.at.dk + e] = sum; });
  float* rows = walk_gradient_rows(w, w.g.dwalk_key);
  w.each_sum(
      steps * w.line, w.n, w.p.scale,
      [&](int e) { return w.g.first || e % w.line >= w.d ? 0.0f : rows[e / w.line * w.inner + e % w.line]; },
      [&](int e, int j) { return by_key[e / w.line * w.key_line + j] * w.base[w.at.k + j * w.line + e % w.line]; },
      [&](int e, float sum) {
        if (e % w.line < w.d) rows[e / w.line * w.inner + e % w.line] = sum;
      });
  Task::sync();
}

}  // namespace molgraph::cuda
