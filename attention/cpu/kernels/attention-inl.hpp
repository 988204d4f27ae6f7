// The attention of one molecule (docs/formula.md section 2), forward and back, head-innermost: a vector holds one number of
// several heads, so that scores, tables and weights need no shuffles whatever the head width.
//
// A step works on one query at a time (OneRow), or, where 16 lanes meet 8 heads, on two (TwoRows: lanes 0-7 are the first
// token's heads, lanes 8-15 the second's). `row` below means that token; its partner in the products is the `other` token.
#if defined(MOLGRAPH_CPU_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_ATTENTION_INL
#undef MOLGRAPH_CPU_ATTENTION_INL
#else
#define MOLGRAPH_CPU_ATTENTION_INL
#endif

#include <algorithm>

#include "attention/cpu/kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

struct OneRow {
  static constexpr std::size_t kRows = 1;
  static HWY_INLINE Vec load(const float* first, const float*) { return hn::LoadU(Tag(), first); }
  static HWY_INLINE Vec both(const float* p) { return hn::LoadU(Tag(), p); }
  static HWY_INLINE void store(Vec v, float* first, float*, bool) { hn::StoreU(v, Tag(), first); }
  static HWY_INLINE void add(Vec v, float* first, float*, bool) { store(hn::Add(v, hn::LoadU(Tag(), first)), first, first, false); }
  static HWY_INLINE Vec kept(Vec x, const Keep& keep, const std::uint8_t* first, const std::uint8_t*, std::size_t head) {
    return keep_lanes(x, keep, first, head);
  }
};

#if HWY_TARGET <= HWY_AVX3
struct TwoRows {
  static constexpr std::size_t kRows = 2;
  using Half = hn::Half<Tag>;
  static HWY_INLINE Vec load(const float* first, const float* second) {
    return hn::Combine(Tag(), hn::LoadU(Half(), second), hn::LoadU(Half(), first));
  }
  static HWY_INLINE Vec both(const float* p) { return Vec{_mm512_broadcast_f32x8(_mm256_loadu_ps(p))}; }
  static HWY_INLINE void store(Vec v, float* first, float* second, bool two) {
    hn::StoreU(hn::LowerHalf(Half(), v), Half(), first);
    if (two) hn::StoreU(hn::UpperHalf(Half(), v), Half(), second);
  }
  // One after the other: both may add to the same place.
  static HWY_INLINE void add(Vec v, float* first, float* second, bool two) {
    hn::StoreU(hn::Add(hn::LowerHalf(Half(), v), hn::LoadU(Half(), first)), Half(), first);
    if (two) hn::StoreU(hn::Add(hn::UpperHalf(Half(), v), hn::LoadU(Half(), second)), Half(), second);
  }
  static HWY_INLINE Vec kept(Vec x, const Keep& keep, const std::uint8_t* first, const std::uint8_t* second, std::size_t) {
    const hn::Mask<Tag> mask{static_cast<__mmask16>(*first | *second << 8)};
    return hn::IfThenElseZero(mask, hn::Mul(x, hn::Set(Tag(), keep.scale)));
  }
};
#endif

// out[j] += scale * sum over U channels of row * other_j. Rows are `stride` apart, channels `heads`; out is [others, kLanes].
template <class P, int U>
HWY_INLINE void add_products(const float* row0, const float* row1, const float* HWY_RESTRICT others, std::size_t stride,
                             std::size_t count, std::size_t heads, float scale, float* HWY_RESTRICT out) {
  const Tag tag;
  Vec row[U];
#pragma GCC unroll 10
  for (int u = 0; u < U; ++u) row[u] = hn::Mul(P::load(row0 + u * heads, row1 + u * heads), hn::Set(tag, scale));
  for (std::size_t j = 0; j < count; ++j) {
    const float* other = others + j * stride;
    Vec a = hn::LoadU(tag, out + j * kLanes), b = hn::Zero(tag);
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) {
      if (u % 2 == 0) a = hn::MulAdd(row[u], P::both(other + u * heads), a);
      else b = hn::MulAdd(row[u], P::both(other + u * heads), b);
    }
    hn::StoreU(hn::Add(a, b), tag, out + j * kLanes);
  }
}

// row (+)= scale * sum over j of weight_j * other_j, U channels. Weights of the two rows are `weight_stride` apart per j.
template <class P, int U>
HWY_INLINE void add_weighted(const float* weight0, const float* weight1, std::size_t weight_stride,
                             const float* HWY_RESTRICT others, std::size_t stride, std::size_t count, std::size_t heads,
                             float scale, bool accumulate, float* row0, float* row1, bool two) {
  const Tag tag;
  Vec sum[U];
#pragma GCC unroll 10
  for (int u = 0; u < U; ++u) sum[u] = hn::Zero(tag);
  for (std::size_t j = 0; j < count; ++j) {
    const Vec weight = P::load(weight0 + j * weight_stride, weight1 + j * weight_stride);
    const float* other = others + j * stride;
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) sum[u] = hn::MulAdd(weight, P::both(other + u * heads), sum[u]);
  }
#pragma GCC unroll 10
  for (int u = 0; u < U; ++u) {
    Vec value = hn::Mul(sum[u], hn::Set(tag, scale));
    if (accumulate) value = hn::Add(value, P::load(row0 + u * heads, two ? row1 + u * heads : row0 + u * heads));
    P::store(value, row0 + u * heads, row1 + u * heads, two);
  }
}

// Calls Step::run<U> for parts of up to ten channels, as even as possible, until all `width` are done.
template <class Step>
HWY_INLINE void in_parts(std::size_t width, const Step& step) {
  const std::size_t parts = (width + 9) / 10, part = (width + parts - 1) / parts;
  for (std::size_t first = 0; first < width; first += part) {
    switch (std::min(part, width - first)) {
      case 10: step.template run<10>(first); break;
      case 9: step.template run<9>(first); break;
      case 8: step.template run<8>(first); break;
      case 7: step.template run<7>(first); break;
      case 6: step.template run<6>(first); break;
      case 5: step.template run<5>(first); break;
      case 4: step.template run<4>(first); break;
      case 3: step.template run<3>(first); break;
      case 2: step.template run<2>(first); break;
      default: step.template run<1>(first); break;
    }
  }
}

template <class P>
struct Products {
  const float *row0, *row1, *others;
  std::size_t stride, count, heads;
  float scale;
  float* out;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    const std::size_t at = first * heads;
    add_products<P, U>(row0 + at, row1 + at, others + at, stride, count, heads, scale, out);
  }
};

template <class P>
struct Weighted {
  const float *weight0, *weight1;
  std::size_t weight_stride;
  const float* others;
  std::size_t stride, count, heads;
  float scale;
  bool accumulate;
  float *row0, *row1;
  bool two;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    const std::size_t at = first * heads;
    add_weighted<P, U>(weight0, weight1, weight_stride, others + at, stride, count, heads, scale, accumulate, row0 + at,
                       row1 + at, two);
  }
};

// The rows that a step takes: `first`, and the one after it if there is one (else itself again).
struct RowPair {
  std::size_t first, second;
  bool two;
};
template <class P>
HWY_INLINE RowPair row_pair(std::size_t first, std::size_t count) {
  const bool two = P::kRows == 2 && first + 1 < count;
  return {first, two ? first + 1 : first, two};
}

// Numbers [n*n, H] of the pairs (row, j) of the rows at hand; null = there are none. Copied out of Attention, because stores
// of vectors would make the compiler read its members again for every pair.
template <class P>
struct PairLine {
  float *first = nullptr, *second = nullptr;
  std::size_t heads;
  bool two;
  HWY_INLINE PairLine(const float* pairs, const Attention& g, const RowPair& r, std::size_t lane) : heads(g.heads), two(r.two) {
    if (pairs == nullptr) return;
    first = const_cast<float*>(pairs) + r.first * g.tokens * heads + lane;   // store() and add() are for what is written
    second = const_cast<float*>(pairs) + r.second * g.tokens * heads + lane;
  }
  HWY_INLINE explicit operator bool() const { return first != nullptr; }
  HWY_INLINE Vec load(std::size_t j) const { return P::load(first + j * heads, second + j * heads); }
  HWY_INLINE void store(Vec v, std::size_t j) const { P::store(v, first + j * heads, second + j * heads, two); }
  HWY_INLINE void add(Vec v, std::size_t j) const { P::add(v, first + j * heads, second + j * heads, two); }
};

// Dropout's bits of those pairs.
template <class P>
struct KeepLine {
  Keep keep;
  const std::uint8_t *first = nullptr, *second = nullptr;
  std::size_t bytes, lane;
  HWY_INLINE KeepLine(const Attention& g, const RowPair& r, std::size_t first_lane) : keep(g.keep), bytes(g.heads / 8), lane(first_lane) {
    if (keep.bits == nullptr) return;
    first = keep.bits + r.first * g.tokens * bytes;
    second = keep.bits + r.second * g.tokens * bytes;
  }
  HWY_INLINE explicit operator bool() const { return first != nullptr; }
  HWY_INLINE Vec kept(Vec x, std::size_t j) const { return P::kept(x, keep, first + j * bytes, second + j * bytes, lane); }
};

// Relations of those pairs.
struct RelationLine {
  const std::uint16_t *first, *second;
  HWY_INLINE RelationLine(const std::uint16_t* relation, std::size_t tokens, const RowPair& r)
      : first(relation + r.first * tokens), second(relation + r.second * tokens) {}
};

HWY_INLINE void zero(float* x, std::size_t count) { std::memset(x, 0, count * sizeof(float)); }

// Scratch of one pass over a group of kLanes lanes of heads; [n] and [M] vectors, and per token and relation [n, M, H].
struct Scratch {
  Scratch(const Attention& g, bool training)
      : scores(g.scratch), by_query(scores + g.tokens * kLanes), weight_of(by_query + g.relations * kLanes),
        by_key(weight_of + g.relations * kLanes), weights(by_key + g.tokens * g.relations * g.heads),
        slopes(weights + (training ? g.tokens * g.tokens * g.heads : 0)),
        dby_query(slopes + (training ? g.tokens * g.tokens * g.heads : 0)),
        dby_key(dby_query + (training ? g.tokens * g.relations * g.heads : 0)),
        weight_by_row(dby_key + (training ? g.tokens * g.relations * g.heads : 0)) {}
  float *scores, *by_query, *weight_of, *by_key;
  float *weights, *slopes, *dby_query, *dby_key, *weight_by_row;   // training only
};

template <class P>
HWY_INLINE Vec at_relations(const float* table, std::uint16_t m0, std::uint16_t m1) {
  return P::load(table + m0 * kLanes, table + m1 * kLanes + (P::kRows == 2 ? kLanes / 2 : 0));
}

// by_key[j, m] = alpha k_j . key_rows[m] for all tokens and the lanes from `lane` on.
template <class P>
void products_with_keys(const Attention& g, std::size_t lane, const Scratch& s) {
  for (std::size_t j = 0; j < g.tokens; j += P::kRows) {
    const RowPair r = row_pair<P>(j, g.tokens);
    zero(s.by_query, g.relations * kLanes);
    in_parts(g.head_width, Products<P>{g.k + r.first * g.stride + lane, g.k + r.second * g.stride + lane,
                                       g.key_rows + lane, g.head_width * g.heads, g.relations, g.heads, g.scale,
                                       s.by_query});
    for (std::size_t m = 0; m < g.relations; ++m)
      P::store(hn::LoadU(Tag(), s.by_query + m * kLanes), s.by_key + (r.first * g.relations + m) * g.heads + lane,
               s.by_key + (r.second * g.relations + m) * g.heads + lane, r.two);
  }
}

// scores[j] of the rows r, before the softmax.
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
      in_parts(g.head_width, Products<P>{q0, q1, g.query_rows + lane, row_width, g.relations, g.heads, g.scale, s.by_query});
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
}

// scores -> softmax; zero where every key is forbidden.
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
  for (std::size_t i = 0; i < g.queries; i += P::kRows) {
    const RowPair r = row_pair<P>(i, g.queries);
    scores_of_row<P>(g, r, lane, s);
    softmax(s.scores, n);
    float *scores = s.scores, *weight_of = g.value_rows != nullptr ? s.weight_of : nullptr;
    if (weight_of != nullptr) zero(weight_of, g.relations * kLanes);
    const PairLine<P> kept_softmax(g.softmax, g, r, lane), gate(g.gate, g, r, lane);
    const KeepLine<P> keep(g, r, lane);
    const RelationLine relation(g.relation, n, r);
    for (std::size_t j = 0; j < n; ++j) {
      Vec weight = hn::LoadU(tag, scores + j * kLanes);
      if (kept_softmax) kept_softmax.store(weight, j);
      if (gate) weight = hn::Mul(weight, gate.load(j));
      if (keep) weight = keep.kept(weight, j);
      hn::StoreU(weight, tag, scores + j * kLanes);
      if (weight_of != nullptr)
        P::add(weight, weight_of + relation.first[j] * kLanes, weight_of + relation.second[j] * kLanes + kLanes / 2, true);
    }
    float *z0 = g.z + r.first * g.z_stride + lane, *z1 = g.z + r.second * g.z_stride + lane;
    const std::size_t second = P::kRows == 2 ? kLanes / 2 : 0;
    in_parts(g.head_width, Weighted<P>{s.scores, s.scores + second, kLanes, g.v + lane, g.stride, n, g.heads, 1.0f,
                                       false, z0, z1, r.two});
    if (g.value_rows != nullptr)
      in_parts(g.head_width, Weighted<P>{s.weight_of, s.weight_of + second, kLanes, g.value_rows + lane,
                                         g.head_width * g.heads, g.relations, g.heads, 1.0f, true, z0, z1, r.two});
  }
}

// Runs PASS over all heads, kLanes at a time.
#undef MOLGRAPH_FOR_ALL_HEADS
#if HWY_TARGET <= HWY_AVX3
#define MOLGRAPH_FOR_ALL_HEADS(PASS, HEADS, ...)                                           \
  if ((HEADS) == kLanes / 2) { PASS<TwoRows>(__VA_ARGS__, 0); }                            \
  else for (std::size_t lane = 0; lane < (HEADS); lane += kLanes) PASS<OneRow>(__VA_ARGS__, lane)
#else
#define MOLGRAPH_FOR_ALL_HEADS(PASS, HEADS, ...) \
  for (std::size_t lane = 0; lane < (HEADS); lane += kLanes) PASS<OneRow>(__VA_ARGS__, lane)
#endif

void attention(const Attention& g) { MOLGRAPH_FOR_ALL_HEADS(attention_lanes, g.heads, g); }

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
