// Walk tables in the attention, forward and backward: tables with one row per step (RelationTable::Row::walk), weighted
// by the pair's probabilities r_ij[t] (spec/walks.hpp):
//     s_ij += alpha (q_i.WQ[t] + k_j.WK[t]) r_ij[t],   v_j + WV[t] r_ij[t],   summed over t
// A token's products with the rows are computed first, so a pair costs K multiplications per head for any width. In the
// backward pass, the sums of slopes times r_ij[t] per token are computed first, and then their products with the rows.
// Only kernels of models with such tables contain this part. `Task`: GroupTask or GroupGradient.
#pragma once

#include "attention/cuda/kernels/attention_arrays.cuh"

namespace molgraph::cuda {

inline constexpr int kAllSteps = 8;  ///< steps that a lane processes together, at most

/// Calls part<T>(first step) over all steps, T at a time. The last steps may exceed K.
template <class Task, class Part>
__device__ __forceinline__ void in_steps(const Task& w, const Part& part) {
  int t = 0;
  for (; t + 4 < w.p.walks.steps; t += kAllSteps) part.template operator()<kAllSteps>(t);
  for (; t < w.p.walks.steps; t += 4) part.template operator()<4>(t);
}
/// Returns the start of this molecule's probabilities.
template <class Task>
__device__ __forceinline__ const float* probabilities(const Task& w) {
  return w.p.walks.probabilities + w.m.pair_at * w.p.walks.steps;
}
/// Loads r_ij[first ..] of the pair of query i and key j, 0 beyond K.
template <int T, class Task>
__device__ __forceinline__ void load_walks(const Task& w, int i, int j, int first, float (&r)[T]) {
  const float* from = probabilities(w) + static_cast<std::int64_t>(j * w.p.walks.steps + first) * w.n + i;
  for (int t = 0; t < T; ++t) r[t] = first + t < w.p.walks.steps ? from[static_cast<std::int64_t>(t) * w.n] : 0.0f;
}
/// sum[t] = row . rows[first + t] over this part's channels.
template <int T, int U, class Task>
__device__ __forceinline__ void add_step_products(const Task& w, const float (&row)[U], const float* rows, int first,
                                                  int c, float (&sum)[T]) {
  for (int t = 0; t < T; ++t)
    if (first + t < w.p.walks.steps) sum[t] += Task::dot(row, rows + (first + t) * w.line + c);
}

/// Loads the tables' rows [steps, line] of this head and computes key_products[j, t] = alpha k_j.WK[t]. The keys must
/// have been loaded.
template <class Task>
__device__ __forceinline__ void load_walk_rows(const Task& w) {
  const WalkTables& walks = w.p.walks;
  const WalkArrays& at = w.at.walks;
  const auto load = [&](const float* table, std::int64_t to) {
    for (int e = w.lane; table != nullptr && e < walks.steps * w.line; e += Task::kLanes) {
      const int t = e / w.line, c = e % w.line;
      w.base[to + e] = c < w.d ? table[t * w.inner() + w.head * w.d + c] : 0.0f;
    }
  };
  load(walks.query, at.query_rows);
  load(walks.key, at.key_rows);
  load(walks.value, at.value_rows);
  Task::sync();
  for (int e = w.lane; walks.key != nullptr && e < w.n * at.step_line; e += Task::kLanes) {
    const int j = e / at.step_line, t = e % at.step_line;
    float sum = 0;
    for (int c = 0; t < walks.steps && c < w.line; ++c)
      sum += w.base[w.at.k + j * w.line + c] * w.base[at.key_rows + t * w.line + c];
    w.base[at.key_products + e] = w.p.scale * sum;
  }
  Task::sync();
}

/// Adds the walk terms to scores[j] of the lane's query i.
template <class Task>
__device__ __forceinline__ void add_walk_scores(const Task& w, int i, float* scores) {
  const WalkTables& walks = w.p.walks;
  if (walks.query == nullptr && walks.key == nullptr) return;
  const WalkArrays& at = w.at.walks;
  in_steps(w, [&]<int T>(int first) {
    float of_query[T] = {};
    if (walks.query != nullptr)
      w.in_parts([&]<int U>(int c) {
        float q[U];
        w.load_global(w.p.qkv, 3 * w.inner(), i, c, w.p.scale, q);
        add_step_products(w, q, w.base + at.query_rows, first, c, of_query);
      });
    for (int j = 0; j < w.n; ++j) {
      float r[T], of_key[T] = {}, sum = 0;
      load_walks(w, i, j, first, r);
      if (walks.key != nullptr) Task::load_part(w.base + at.key_products + j * at.step_line + first, of_key);
      for (int t = 0; t < T; ++t) sum += (of_query[t] + of_key[t]) * r[t];
      scores[j * Task::kScoreLine] += sum;
    }
  });
}

/// For the lane's query i, by_value[t] = sum over keys of weights[j] r_ij[t] and, unless `ds` is null, by_query[t] =
/// the same sum with ds.
template <class Task>
__device__ __forceinline__ void sum_walks(const Task& w, int i, const float* weights, const float* ds) {
  const bool values = w.p.walks.value != nullptr, queries = w.p.walks.query != nullptr && ds != nullptr;
  if (!values && !queries) return;
  const WalkArrays& at = w.at.walks;
  in_steps(w, [&]<int T>(int first) {
    float of_value[T] = {}, of_query[T] = {};
    for (int j = 0; j < w.n; ++j) {
      float r[T];
      load_walks(w, i, j, first, r);
      const float weight = values ? weights[j * Task::kScoreLine] : 0.0f;
      const float slope = queries ? ds[j * Task::kScoreLine] : 0.0f;
      for (int t = 0; t < T; ++t) of_value[t] += weight * r[t], of_query[t] += slope * r[t];
    }
    for (int t = 0; t < T && first + t < w.p.walks.steps; ++t) {
      const int e = (first + t) * Task::kLanes + w.lane;
      if (values) w.base[at.by_value + e] = of_value[t];
      if (queries) w.base[at.by_query + e] = of_query[t];
    }
  });
}
/// x += sum over steps of by[t] rows[t] over this part's channels; `rows` null: none.
template <int U, class Task>
__device__ __forceinline__ void add_walk_rows(const Task& w, const float* table, std::int64_t by, std::int64_t rows,
                                              int c, float (&x)[U]) {
  for (int t = 0; table != nullptr && t < w.p.walks.steps; ++t)
    Task::add_scaled(x, w.base[by + t * Task::kLanes + w.lane], w.base + rows + t * w.line + c);
}

// --- backward pass ---

/// dw[j] += sum over t of (dz_i.WV[t]) r_ij[t], for the lane's query i.
template <class Task>
__device__ __forceinline__ void add_walk_slopes(const Task& w, int i, float* dw) {
  if (w.p.walks.value == nullptr) return;
  in_steps(w, [&]<int T>(int first) {
    float of_query[T] = {};
    w.in_parts([&]<int U>(int c) {
      float dz[U];
      Task::load_part(w.base + w.at.dz + i * w.line + c, dz);
      add_step_products(w, dz, w.base + w.at.walks.value_rows, first, c, of_query);
    });
    for (int j = 0; j < w.n; ++j) {
      float r[T], sum = 0;
      load_walks(w, i, j, first, r);
      for (int t = 0; t < T; ++t) sum += of_query[t] * r[t];
      dw[j * Task::kScoreLine] += sum;
    }
  });
}

/// Returns this head's channels of the molecule's rows in [molecules, K, C].
template <class Task>
__device__ __forceinline__ float* walk_gradient_rows(const Task& w, float* rows) {
  const std::int64_t molecule = w.number;
  return rows + molecule * w.p.walks.steps * w.inner() + w.head * w.d;
}
/// Adds the contributions of queries [first, first + lanes) to WQ and WV.
template <class Task>
__device__ __forceinline__ void walk_table_rows(const Task& w, int first) {
  const WalkArrays& at = w.at.walks;
  const bool overwrite = w.g.first && first == 0;
  const auto add = [&](std::int64_t by, std::int64_t x, float factor, float* rows) {
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
    for (int j = 0; first + w.lane < last && j < w.n; ++j)
      tile[j * kLine + w.lane] =
          probabilities(w)[static_cast<std::int64_t>(j * w.p.walks.steps + t) * w.n + first + w.lane];
    Task::sync();
    for (int j = w.lane; j < w.n; j += Task::kLanes) {
      float sum = 0;
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
  for (int e = w.lane; e < w.n * w.line; e += Task::kLanes) {
    const int j = e / w.line, c = e % w.line;
    float sum = 0;
    for (int t = 0; t < steps; ++t) sum += by_key[t * w.key_line + j] * w.base[w.at.walks.key_rows + t * w.line + c];
    w.base[w.at.dk + e] += w.p.scale * sum;
  }
  float* rows = walk_gradient_rows(w, w.g.dwalk_key);
  for (int e = w.lane; e < steps * w.d; e += Task::kLanes) {
    const int t = e / w.d, c = e % w.d;
    float sum = 0;
    for (int j = 0; j < w.n; ++j) sum += by_key[t * w.key_line + j] * w.base[w.at.k + j * w.line + c];
    Task::add(rows + t * w.inner() + c, w.p.scale * sum, w.g.first);
  }
  Task::sync();
}

}  // namespace molgraph::cuda
