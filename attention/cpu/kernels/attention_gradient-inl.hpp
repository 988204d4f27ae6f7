// Backward pass of the attention of one molecule. With w = drop(a C), a the softmax:
//     dw_ij = dz_i . (v_j + PV) + dweights_ij;  da_ij = drop(dw_ij) C_ij + dsoftmax_ij;  dC_ij = drop(dw_ij) a_ij
//     ds_ij = a_ij (da_ij - sum_j da_ij a_ij) + dscores_ij
// First the queries, row by row (ds, dq, the rows' contributions to the tables), then the keys (dk, dv, the sums for
// the tables). dz [queries, dz_stride] -> dq [queries, stride], dk, dv [n, stride]. Adds to dbias, dgate [n*n, H] and
// to the tables' gradients [M, d*H].
#if defined(MOLGRAPH_CPU_ATTENTION_GRADIENT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_ATTENTION_GRADIENT_INL
#undef MOLGRAPH_CPU_ATTENTION_GRADIENT_INL
#else
#define MOLGRAPH_CPU_ATTENTION_GRADIENT_INL
#endif

#include "attention/cpu/kernels/walks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

// Computes, for the rows r, weights and slopes of all keys, scores[j] = alpha ds, and the sums by relation.
template <class P>
HWY_INLINE void slopes_of_row(const Attention& g, const AttentionGradient& d, const RowPair& r, std::size_t lane,
                              const Scratch& s) {
  const Tag tag;
  const std::size_t n = g.tokens, heads = g.heads;
  const float *dz0 = d.dz + r.first * d.dz_stride + lane, *dz1 = d.dz + r.second * d.dz_stride + lane;
  const PairLine<P> softmax(g.softmax, g, r, lane), gate(g.gate, g, r, lane), dgate(d.dgate, g, r, lane),
      dbias(d.dbias, g, r, lane), dweights(d.dweights, g, r, lane), dsoftmax(d.dsoftmax, g, r, lane),
      dscores(d.dscores, g, r, lane);
  const PairLine<P> weights(s.weights, g, r, lane), slopes(s.slopes, g, r, lane);
  const KeepLine<P> keep(g, r, lane);
  const RelationLine relation(g.relation, n, r), key_relation(g.key_relation, n, r);
  float* scores = s.scores;
  const auto per_row = [&](float* table, std::size_t row) { return table + row * g.relations * g.heads + lane; };
  if (g.value_rows != nullptr) {
    zero(s.by_query, g.relations * kLanes);
    in_parts(g.head_width, Products<P>{dz0, dz1, g.value_rows + lane, g.head_width * g.heads, g.relations, g.heads,
                                       1.0f, s.by_query});
    for (std::size_t j = 0; j < n; ++j)
      hn::StoreU(at_relations<P>(s.by_query, relation.first[j], relation.second[j]), tag, scores + j * kLanes);
  } else {
    zero(s.scores, n * kLanes);
  }
  in_parts(g.head_width, Products<P>{dz0, dz1, g.v + lane, g.stride, n, g.heads, 1.0f, s.scores});
  if (g.walk_value != nullptr) {
    zero(s.by_step, g.steps * kLanes);
    in_parts(g.head_width,
             Products<P>{dz0, dz1, g.walk_value + lane, g.head_width * g.heads, g.steps, g.heads, 1.0f, s.by_step});
    in_parts(g.steps, AddWalks<P>{s.by_step, walks_of<P>(g.walks, g, r), g.steps, n, s.scores});
  }

  float *sum0 = nullptr, *sum1 = nullptr;
  if (g.value_rows != nullptr) sum0 = per_row(s.weight_by_row, r.first), sum1 = per_row(s.weight_by_row, r.second);
  Vec expectation = hn::Zero(tag);
  for (std::size_t j = 0; j < n; ++j) {
    const Vec a = softmax.load(j);
    Vec slope = hn::LoadU(tag, scores + j * kLanes), weight = a;
    const Vec gated = gate ? gate.load(j) : hn::Set(tag, 1.0f);
    if (gate) weight = hn::Mul(weight, gated);
    if (dweights) slope = hn::Add(slope, dweights.load(j));
    if (keep) {
      slope = keep.kept(slope, j);
      weight = keep.kept(weight, j);
    }
    weights.store(weight, j);
    if (dgate) dgate.add(hn::Mul(slope, a), j);
    if (gate) slope = hn::Mul(slope, gated);
    if (dsoftmax) slope = hn::Add(slope, dsoftmax.load(j));
    if (sum0 != nullptr) P::add(weight, sum0 + relation.first[j] * heads, sum1 + relation.second[j] * heads, r.two);
    expectation = hn::MulAdd(slope, a, expectation);
    hn::StoreU(slope, tag, scores + j * kLanes);
  }
  const bool by_row = g.query_rows != nullptr || (g.key_rows != nullptr && g.key_by_row);
  const bool by_column = g.key_rows != nullptr && !g.key_by_row;
  float *dq0 = per_row(s.dby_query, r.first), *dq1 = per_row(s.dby_query, r.second);
  float* dby_key = s.dby_key + lane;
  const std::size_t row = g.relations * heads;
  const Vec scale = hn::Set(tag, g.scale);
  for (std::size_t j = 0; j < n; ++j) {
    Vec ds = hn::Mul(softmax.load(j), hn::Sub(hn::LoadU(tag, scores + j * kLanes), expectation));
    if (dscores) ds = hn::Add(ds, dscores.load(j));
    if (dbias) dbias.add(ds, j);
    const Vec scaled = hn::Mul(ds, scale);
    hn::StoreU(scaled, tag, scores + j * kLanes);
    slopes.store(scaled, j);
    if (by_row) P::add(scaled, dq0 + relation.first[j] * heads, dq1 + relation.second[j] * heads, r.two);
    if (by_column) {
      float* of_key = dby_key + j * row;
      P::add(scaled, of_key + key_relation.first[j] * heads, of_key + key_relation.second[j] * heads, r.two);
    }
  }
}

// step_sums[row, t] = sum over `count` others of weight * r[t] for the rows r, [n, K, H]; weights as in add_weighted().
template <class P>
HWY_INLINE void sum_by_step(const Attention& g, const float* weight0, const float* weight1, std::size_t weight_stride,
                            const float* walks, std::size_t count, const RowPair& r, std::size_t lane, const Scratch& s,
                            float* step_sums) {
  in_parts(g.steps, SumWalks<P>{weight0, weight1, weight_stride, walks_of<P>(walks, g, r), g.steps, count, s.by_step});
  for (std::size_t t = 0; t < g.steps; ++t)
    P::store(hn::LoadU(Tag(), s.by_step + t * kLanes), step_sums + (r.first * g.steps + t) * g.heads + lane,
             step_sums + (r.second * g.steps + t) * g.heads + lane, r.two);
}

// rows[m] += sum over the first `tokens` tokens i of by_row[i, m] * x_i for m < count: the gradient of a table.
template <class P>
void table_gradient(const Attention& g, const float* by_row, std::size_t count, const float* x, std::size_t x_stride,
                    std::size_t tokens, std::size_t lane, float* rows) {
  const std::size_t row_width = g.head_width * g.heads;
  for (std::size_t m = 0; m < count; m += P::kRows) {
    const RowPair r = row_pair<P>(m, count);
    in_parts(g.head_width, Weighted<P>{by_row + r.first * g.heads + lane, by_row + r.second * g.heads + lane,
                                       count * g.heads, x + lane, x_stride, tokens, g.heads, 1.0f, true,
                                       rows + r.first * row_width + lane, rows + r.second * row_width + lane, r.two});
  }
}

// x_i += sum over m < count of by_row[i, m] * rows[m].
template <class P>
HWY_INLINE void add_table_rows(const Attention& g, const float* by_row, std::size_t count, const float* rows,
                               const RowPair& r, std::size_t lane, float* x) {
  in_parts(g.head_width,
           Weighted<P>{by_row + r.first * count * g.heads + lane, by_row + r.second * count * g.heads + lane, g.heads,
                       rows + lane, g.head_width * g.heads, count, g.heads, 1.0f, true, x + r.first * g.stride + lane,
                       x + r.second * g.stride + lane, r.two});
}

template <class P>
void attention_gradient_lanes(const Attention& g, const AttentionGradient& d, std::size_t lane) {
  const Scratch s(g, true);
  const std::size_t n = g.tokens, second = P::kRows == 2 ? kLanes / 2 : 0;
  const bool key_column = g.key_rows != nullptr && !g.key_by_row;
  for (std::size_t i = 0; i < g.queries; i += P::kRows) {
    const RowPair r = row_pair<P>(i, g.queries);
    slopes_of_row<P>(g, d, r, lane, s);
    in_parts(g.head_width,
             Weighted<P>{s.scores, s.scores + second, kLanes, g.k + lane, g.stride, n, g.heads, 1.0f, false,
                         d.dq + r.first * g.stride + lane, d.dq + r.second * g.stride + lane, r.two});
    if (g.query_rows != nullptr) add_table_rows<P>(g, s.dby_query, g.relations, g.query_rows, r, lane, d.dq);
    if (g.walk_query != nullptr) {
      sum_by_step<P>(g, s.scores, s.scores + second, kLanes, g.walks, n, r, lane, s, s.dquery_step);
      add_table_rows<P>(g, s.dquery_step, g.steps, g.walk_query, r, lane, d.dq);
    }
    if (g.walk_value != nullptr)
      sum_by_step<P>(g, s.weights + r.first * n * g.heads + lane, s.weights + r.second * n * g.heads + lane, g.heads,
                     g.walks, n, r, lane, s, s.weight_by_step);
  }
  for (std::size_t j = 0; j < n; j += P::kRows) {
    const RowPair r = row_pair<P>(j, n);
    const std::size_t at0 = r.first * g.heads + lane, at1 = r.second * g.heads + lane;
    float *k0 = d.dk + r.first * g.stride + lane, *k1 = d.dk + r.second * g.stride + lane;
    float *v0 = d.dv + r.first * g.stride + lane, *v1 = d.dv + r.second * g.stride + lane;
    in_parts(g.head_width, Weighted<P>{s.weights + at0, s.weights + at1, n * g.heads, d.dz + lane, d.dz_stride,
                                       g.queries, g.heads, 1.0f, false, v0, v1, r.two});
    in_parts(g.head_width, Weighted<P>{s.slopes + at0, s.slopes + at1, n * g.heads, g.q + lane, g.stride, g.queries,
                                       g.heads, 1.0f, false, k0, k1, r.two});
    if (g.key_rows != nullptr)
      add_table_rows<P>(g, key_column ? s.dby_key : s.dby_query, g.relations, g.key_rows, r, lane, d.dk);
    if (g.walk_key != nullptr) {
      sum_by_step<P>(g, s.slopes + at0, s.slopes + at1, n * g.heads, g.walks_by_key, g.queries, r, lane, s,
                     s.dkey_step);
      add_table_rows<P>(g, s.dkey_step, g.steps, g.walk_key, r, lane, d.dk);
    }
  }
  const std::size_t relations = g.relations, steps = g.steps;
  if (g.query_rows != nullptr)
    table_gradient<P>(g, s.dby_query, relations, g.q, g.stride, g.queries, lane, d.dquery_rows);
  if (g.key_rows != nullptr)
    table_gradient<P>(g, key_column ? s.dby_key : s.dby_query, relations, g.k, g.stride, n, lane, d.dkey_rows);
  if (g.value_rows != nullptr)
    table_gradient<P>(g, s.weight_by_row, relations, d.dz, d.dz_stride, g.queries, lane, d.dvalue_rows);
  if (g.walk_query != nullptr)
    table_gradient<P>(g, s.dquery_step, steps, g.q, g.stride, g.queries, lane, d.dwalk_query);
  if (g.walk_key != nullptr) table_gradient<P>(g, s.dkey_step, steps, g.k, g.stride, n, lane, d.dwalk_key);
  if (g.walk_value != nullptr)
    table_gradient<P>(g, s.weight_by_step, steps, d.dz, d.dz_stride, g.queries, lane, d.dwalk_value);
}

void attention_gradient(const Attention& g, const AttentionGradient& d) {
  const Scratch s(g, true);
  zero(s.dby_query, static_cast<std::size_t>(s.end - s.dby_query));  // also dby_key and weight_by_row, which follow
  MOLGRAPH_FOR_ALL_HEADS(attention_gradient_lanes, g.heads, g, d);
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
