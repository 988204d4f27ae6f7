// Forward pass of the attention of one molecule (docs/models/formula.md section 2); per head h:
//     s_ij = b_ij + alpha (q_i.k_j + q_i.query_rows[m] + k_x.key_rows[m]),  a = softmax over j,  w = drop(a * gate)
//     z_i = sum over j of w_ij (v_j + value_rows[m]),  m the relation of (i, j)
// With walks r_ij[t], alpha (q_i.walk_query[t] + k_j.walk_key[t]) r_ij[t] is added to s_ij, and walk_value[t] r_ij[t]
// to v_j. q, k, v [n, stride], z [queries, z_stride]; bias, gate, softmax, scores, weights [n*n, H]; tables
// [M, d*H].
#if defined(MOLGRAPH_CPU_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_ATTENTION_INL
#undef MOLGRAPH_CPU_ATTENTION_INL
#else
#define MOLGRAPH_CPU_ATTENTION_INL
#endif

#include "attention/cpu/kernels/walks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

// by_key[j, m] = alpha k_j . key_rows[m] for all tokens and the lanes from `lane` on.
template <class P>
void products_with_keys(const Attention& g, std::size_t lane, const Scratch& s) {
  for (std::size_t j = 0; j < g.tokens; j += P::kRows) {
    const RowPair r = row_pair<P>(j, g.tokens);
    zero(s.by_query, g.relations * kLanes);
    in_parts(g.head_width,
             Products<P>{g.k + r.first * g.stride + lane, g.k + r.second * g.stride + lane, g.key_rows + lane,
                         g.head_width * g.heads, g.relations, g.heads, g.scale, s.by_query});
    for (std::size_t m = 0; m < g.relations; ++m)
      P::store(hn::LoadU(Tag(), s.by_query + m * kLanes), s.by_key + (r.first * g.relations + m) * g.heads + lane,
               s.by_key + (r.second * g.relations + m) * g.heads + lane, r.two);
  }
}

// key_walks[j, i] = sum over steps of (alpha k_j . walk_key[t]) r_ij[t] for all tokens and the lanes from `lane` on.
template <class P>
void walk_scores_by_key(const Attention& g, std::size_t lane, const Scratch& s) {
  for (std::size_t j = 0; j < g.tokens; j += P::kRows) {
    const RowPair r = row_pair<P>(j, g.tokens);
    zero(s.by_step, g.steps * kLanes);
    in_parts(g.head_width,
             Products<P>{g.k + r.first * g.stride + lane, g.k + r.second * g.stride + lane, g.walk_key + lane,
                         g.head_width * g.heads, g.steps, g.heads, g.scale, s.by_step});
    zero(s.scores, g.queries * kLanes);
    in_parts(g.steps, AddWalks<P>{s.by_step, walks_of<P>(g.walks_by_key, g, r), g.steps, g.queries, s.scores});
    for (std::size_t i = 0; i < g.queries; ++i)
      P::store(hn::LoadU(Tag(), s.scores + i * kLanes), s.key_walks + (r.first * g.tokens + i) * g.heads + lane,
               s.key_walks + (r.second * g.tokens + i) * g.heads + lane, r.two);
  }
}

// Computes scores[j] of the rows r, before the softmax.
template <class P>
HWY_INLINE void scores_of_row(const Attention& g, const RowPair& r, std::size_t lane, const Scratch& s) {
  const Tag tag;
  const std::size_t n = g.tokens, row_width = g.head_width * g.heads;
  const float *q0 = g.q + r.first * g.stride + lane, *q1 = g.q + r.second * g.stride + lane;
  const bool by_row = g.query_rows != nullptr || (g.key_rows != nullptr && g.key_by_row);
  const bool by_column = g.key_rows != nullptr && !g.key_by_row;
  if (by_row) {
    zero(s.by_query, g.relations * kLanes);
    if (g.query_rows != nullptr)
      in_parts(g.head_width,
               Products<P>{q0, q1, g.query_rows + lane, row_width, g.relations, g.heads, g.scale, s.by_query});
    if (g.key_rows != nullptr && g.key_by_row)
      in_parts(g.head_width, Products<P>{g.k + r.first * g.stride + lane, g.k + r.second * g.stride + lane,
                                         g.key_rows + lane, row_width, g.relations, g.heads, g.scale, s.by_query});
  }
  const PairLine<P> bias(g.bias, g, r, lane);
  const RelationLine relation(g.relation, n, r), key_relation(g.key_relation, n, r);
  const float *by_query = s.by_query, *by_key = s.by_key + lane;
  float* scores = s.scores;
  const std::size_t heads = g.heads, relations = g.relations;
  for (std::size_t j = 0; j < n; ++j) {
    Vec score = bias ? bias.load(j) : hn::Zero(tag);
    if (by_row) score = hn::Add(score, at_relations<P>(by_query, relation.first[j], relation.second[j]));
    if (by_column) {
      const float* of_key = by_key + j * relations * heads;
      score = hn::Add(score, P::load(of_key + key_relation.first[j] * heads, of_key + key_relation.second[j] * heads));
    }
    hn::StoreU(score, tag, scores + j * kLanes);
  }
  in_parts(g.head_width, Products<P>{q0, q1, g.k + lane, g.stride, n, g.heads, g.scale, s.scores});
  if (g.walk_query != nullptr) {
    zero(s.by_step, g.steps * kLanes);
    in_parts(g.head_width, Products<P>{q0, q1, g.walk_query + lane, row_width, g.steps, heads, g.scale, s.by_step});
    in_parts(g.steps, AddWalks<P>{s.by_step, walks_of<P>(g.walks, g, r), g.steps, n, s.scores});
  }
  for (std::size_t j = 0; g.walk_key != nullptr && j < n; ++j) {
    const float* of_key = s.key_walks + j * n * heads + lane;
    const Vec walked = P::load(of_key + r.first * heads, of_key + r.second * heads);
    hn::StoreU(hn::Add(hn::LoadU(tag, scores + j * kLanes), walked), tag, scores + j * kLanes);
  }
}

// scores -> softmax; zero if every key is forbidden.
HWY_INLINE void softmax(float* scores, std::size_t n) {
  const Tag tag;
  Vec largest = hn::Set(tag, 2 * kForbidden);
  for (std::size_t j = 0; j < n; ++j) largest = hn::Max(largest, hn::LoadU(tag, scores + j * kLanes));
  Vec total = hn::Zero(tag);
  for (std::size_t j = 0; j < n; ++j) {
    const Vec e = exponential(hn::Sub(hn::LoadU(tag, scores + j * kLanes), largest));
    hn::StoreU(e, tag, scores + j * kLanes);
    total = hn::Add(total, e);
  }
  const Vec any_key = hn::IfThenElseZero(hn::Gt(largest, hn::Set(tag, 0.1f * kForbidden)), hn::Set(tag, 1.0f));
  const Vec factor = hn::Div(any_key, total);
  for (std::size_t j = 0; j < n; ++j)
    hn::StoreU(hn::Mul(hn::LoadU(tag, scores + j * kLanes), factor), tag, scores + j * kLanes);
}

template <class P>
void attention_lanes(const Attention& g, std::size_t lane) {
  const Tag tag;
  const Scratch s(g, false);
  const std::size_t n = g.tokens;
  if (g.key_rows != nullptr && !g.key_by_row) products_with_keys<P>(g, lane, s);
  if (g.walk_key != nullptr) walk_scores_by_key<P>(g, lane, s);
  for (std::size_t i = 0; i < g.queries; i += P::kRows) {
    const RowPair r = row_pair<P>(i, g.queries);
    scores_of_row<P>(g, r, lane, s);
    if (const PairLine<P> kept_scores(g.scores, g, r, lane); kept_scores)
      for (std::size_t j = 0; j < n; ++j) kept_scores.store(hn::LoadU(tag, s.scores + j * kLanes), j);
    softmax(s.scores, n);
    float *scores = s.scores, *weight_of = g.value_rows != nullptr ? s.weight_of : nullptr;
    if (weight_of != nullptr) zero(weight_of, g.relations * kLanes);
    const PairLine<P> stored_softmax(g.softmax, g, r, lane), gate(g.gate, g, r, lane),
        kept_weights(g.weights, g, r, lane);
    const KeepLine<P> keep(g, r, lane);
    const RelationLine relation(g.relation, n, r);
    for (std::size_t j = 0; j < n; ++j) {
      Vec weight = hn::LoadU(tag, scores + j * kLanes);
      if (stored_softmax) stored_softmax.store(weight, j);
      if (gate) weight = hn::Mul(weight, gate.load(j));
      if (keep) weight = keep.kept(weight, j);
      hn::StoreU(weight, tag, scores + j * kLanes);
      if (kept_weights) kept_weights.store(weight, j);
      if (weight_of != nullptr)
        P::add(weight, weight_of + relation.first[j] * kLanes, weight_of + relation.second[j] * kLanes + kLanes / 2,
               true);
    }
    float *z0 = g.z + r.first * g.z_stride + lane, *z1 = g.z + r.second * g.z_stride + lane;
    const std::size_t second = P::kRows == 2 ? kLanes / 2 : 0;
    in_parts(g.head_width, Weighted<P>{s.scores, s.scores + second, kLanes, g.v + lane, g.stride, n, g.heads, 1.0f,
                                       false, z0, z1, r.two});
    if (g.value_rows != nullptr)
      in_parts(g.head_width, Weighted<P>{s.weight_of, s.weight_of + second, kLanes, g.value_rows + lane,
                                         g.head_width * g.heads, g.relations, g.heads, 1.0f, true, z0, z1, r.two});
    if (g.walk_value != nullptr) {
      in_parts(g.steps,
               SumWalks<P>{s.scores, s.scores + second, kLanes, walks_of<P>(g.walks, g, r), g.steps, n, s.by_step});
      in_parts(g.head_width, Weighted<P>{s.by_step, s.by_step + second, kLanes, g.walk_value + lane,
                                         g.head_width * g.heads, g.steps, g.heads, 1.0f, true, z0, z1, r.two});
    }
  }
}

void attention(const Attention& g) { MOLGRAPH_FOR_ALL_HEADS(attention_lanes, g.heads, g); }

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
