// Steps of attention and its gradient. The layout is head-innermost: a vector contains the same element of several
// heads, so scores, tables and weights need no shuffles for any head width. Rows of q, k, v, z and tables are [d, H]; n
// tokens, M relations.
//
// A step processes one query at a time (OneRow) or, with 16 lanes and 8 heads, two (TwoRows: lanes 0-7 are the first
// token's heads, lanes 8-15 the second's). `row` below means this token; `other` is the second token of a product.
#if defined(MOLGRAPH_CPU_ATTENTION_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_ATTENTION_STEPS_INL
#undef MOLGRAPH_CPU_ATTENTION_STEPS_INL
#else
#define MOLGRAPH_CPU_ATTENTION_STEPS_INL
#endif

#include <algorithm>
#include <cstring>
#include <utility>

#include "attention/cpu/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

struct OneRow {
  static constexpr std::size_t kRows = 1;
  static HWY_INLINE Vec load(const float* first, const float*) { return hn::LoadU(Tag(), first); }
  static HWY_INLINE Vec both(const float* p) { return hn::LoadU(Tag(), p); }
  static HWY_INLINE Vec scalars(const float* p) { return hn::Set(Tag(), *p); }
  static HWY_INLINE Vec interleaved(Vec v) { return v; }
  static HWY_INLINE Vec deinterleaved(Vec v) { return v; }
  static HWY_INLINE void store(Vec v, float* first, float*, bool) { hn::StoreU(v, Tag(), first); }
  static HWY_INLINE void add(Vec v, float* first, float*, bool) {
    store(hn::Add(v, hn::LoadU(Tag(), first)), first, first, false);
  }
  static HWY_INLINE Vec kept(Vec x, const Keep& keep, const std::uint8_t* first, const std::uint8_t*,
                             std::size_t head) {
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
  // scalars() broadcasts an element of each row to all its lanes in one load. For this, the lanes of the two rows
  // alternate. interleaved() converts to this order, deinterleaved() back.
  static HWY_INLINE Vec scalars(const float* p) {
    double both;  // vbroadcastsd only loads; vbroadcastf32x2 also needs an arithmetic unit
    std::memcpy(&both, p, sizeof(both));
    return Vec{_mm512_castpd_ps(_mm512_set1_pd(both))};
  }
  static HWY_INLINE Vec interleaved(Vec v) {
    const __m512i order = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    return Vec{_mm512_permutexvar_ps(order, v.raw)};
  }
  static HWY_INLINE Vec deinterleaved(Vec v) {
    const __m512i order = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    return Vec{_mm512_permutexvar_ps(order, v.raw)};
  }
  static HWY_INLINE void store(Vec v, float* first, float* second, bool two) {
    hn::StoreU(hn::LowerHalf(Half(), v), Half(), first);
    if (two) hn::StoreU(hn::UpperHalf(Half(), v), Half(), second);
  }
  // One row after the other, because both may add to the same address.
  static HWY_INLINE void add(Vec v, float* first, float* second, bool two) {
    hn::StoreU(hn::Add(hn::LowerHalf(Half(), v), hn::LoadU(Half(), first)), Half(), first);
    if (two) hn::StoreU(hn::Add(hn::UpperHalf(Half(), v), hn::LoadU(Half(), second)), Half(), second);
  }
  static HWY_INLINE Vec kept(Vec x, const Keep& keep, const std::uint8_t* first, const std::uint8_t* second,
                             std::size_t) {
    const hn::Mask<Tag> mask{static_cast<__mmask16>(*first | *second << 8)};
    return hn::IfThenElseZero(mask, hn::Mul(x, hn::Set(Tag(), keep.scale)));
  }
};
#endif

// out[j] += scale * sum over U channels of row * other_j. Consecutive rows are `stride` apart, channels `heads`. out is
// [others, kLanes].
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

// row (+)= scale * sum over j of weight_j * other_j, U channels. A row's consecutive weights are `weight_stride` apart.
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

// Calls Step::run<U> for parts of up to ten channels, as equal as possible, until all `width` channels are done.
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

// The rows that a step processes: `first` and the next row; if there is no next row, `second` is `first`.
struct RowPair {
  std::size_t first, second;
  bool two;
};
template <class P>
HWY_INLINE RowPair row_pair(std::size_t first, std::size_t count) {
  const bool two = P::kRows == 2 && first + 1 < count;
  return {first, two ? first + 1 : first, two};
}

// Values [n*n, H] of the pairs (row, j) of the current rows; null = none. Copied from Attention, because vector stores
// would make the compiler reload its members for every pair.
template <class P>
struct PairLine {
  float *first = nullptr, *second = nullptr;
  std::size_t heads;
  bool two;
  HWY_INLINE PairLine(const float* pairs, const Attention& g, const RowPair& r, std::size_t lane)
      : heads(g.heads), two(r.two) {
    if (pairs == nullptr) return;
    first = const_cast<float*>(pairs) + r.first * g.tokens * heads + lane;  // store() and add(): non-const arrays only
    second = const_cast<float*>(pairs) + r.second * g.tokens * heads + lane;
  }
  HWY_INLINE explicit operator bool() const { return first != nullptr; }
  HWY_INLINE Vec load(std::size_t j) const { return P::load(first + j * heads, second + j * heads); }
  HWY_INLINE void store(Vec v, std::size_t j) const { P::store(v, first + j * heads, second + j * heads, two); }
  HWY_INLINE void add(Vec v, std::size_t j) const { P::add(v, first + j * heads, second + j * heads, two); }
};

// Dropout bits of these pairs.
template <class P>
struct KeepLine {
  Keep keep;
  const std::uint8_t *first = nullptr, *second = nullptr;
  std::size_t bytes, lane;
  HWY_INLINE KeepLine(const Attention& g, const RowPair& r, std::size_t first_lane)
      : keep(g.keep), bytes(g.heads / 8), lane(first_lane) {
    if (keep.bits == nullptr) return;
    first = keep.bits + r.first * g.tokens * bytes;
    second = keep.bits + r.second * g.tokens * bytes;
  }
  HWY_INLINE explicit operator bool() const { return first != nullptr; }
  HWY_INLINE Vec kept(Vec x, std::size_t j) const {
    return P::kept(x, keep, first + j * bytes, second + j * bytes, lane);
  }
};

// Relations of these pairs.
struct RelationLine {
  const std::uint16_t *first, *second;
  HWY_INLINE RelationLine(const std::uint16_t* relation, std::size_t tokens, const RowPair& r)
      : first(relation + r.first * tokens), second(relation + r.second * tokens) {}
};

HWY_INLINE void zero(float* x, std::size_t count) { std::memset(x, 0, count * sizeof(float)); }

// Offsets in Attention::scratch, in floats, of the arrays of a pass over kLanes lanes of heads: [n], [M] and [K]
// vectors, then values per token and relation [n, M, H] and, with walks, per pair [n*n, H]. The backward pass also has
// values per pair, and per token and step [n, K, H].
struct ScratchPlan {
  ScratchPlan(std::size_t tokens, std::size_t heads, std::size_t relations, std::size_t steps, bool training) {
    const auto take = [this](std::size_t count) { return std::exchange(floats, floats + count); };
    scores = take(tokens * kLanes);
    by_query = take(relations * kLanes);
    weight_of = take(relations * kLanes);
    by_key = take(tokens * relations * heads);
    weights = take(training ? tokens * tokens * heads : 0);
    slopes = take(training ? tokens * tokens * heads : 0);
    by_relation = take(training ? 3 * tokens * relations * heads : 0);
    by_step = take(steps * kLanes);
    key_walks = take(steps > 0 ? tokens * tokens * heads : 0);
    dby_step = take(training ? 3 * tokens * steps * heads : 0);
  }
  std::size_t floats = 0;
  std::size_t scores, by_query, weight_of, by_key, weights, slopes;
  std::size_t by_relation;  // dby_query, dby_key, weight_by_row: contiguous, because they are zeroed together
  std::size_t by_step, key_walks, dby_step;
};

std::size_t attention_scratch(std::size_t tokens, std::size_t heads, std::size_t relations, std::size_t steps,
                              bool training) {
  return ScratchPlan(tokens, heads, relations, steps, training).floats;
}

struct Scratch {
  Scratch(const Attention& g, bool training) {
    const ScratchPlan plan(g.tokens, g.heads, g.relations, g.steps, training);
    scores = g.scratch + plan.scores;
    by_query = g.scratch + plan.by_query;
    weight_of = g.scratch + plan.weight_of;
    by_key = g.scratch + plan.by_key;
    by_step = g.scratch + plan.by_step;
    key_walks = g.scratch + plan.key_walks;
    if (!training) return;
    dquery_step = g.scratch + plan.dby_step;
    dkey_step = dquery_step + g.tokens * g.steps * g.heads;
    weight_by_step = dkey_step + g.tokens * g.steps * g.heads;
    const std::size_t per_row = g.tokens * g.relations * g.heads;
    weights = g.scratch + plan.weights;
    slopes = g.scratch + plan.slopes;
    dby_query = g.scratch + plan.by_relation;
    dby_key = dby_query + per_row;
    weight_by_row = dby_key + per_row;
    end = weight_by_row + per_row;
  }
  float *scores, *by_query, *weight_of, *by_key, *by_step, *key_walks;
  float *dquery_step = nullptr, *dkey_step = nullptr,
        *weight_by_step = nullptr;  // training only, also the members below
  float *weights = nullptr, *slopes = nullptr, *dby_query = nullptr, *dby_key = nullptr, *weight_by_row = nullptr,
        *end = nullptr;
};

template <class P>
HWY_INLINE Vec at_relations(const float* table, std::uint16_t m0, std::uint16_t m1) {
  return P::load(table + m0 * kLanes, table + m1 * kLanes + (P::kRows == 2 ? kLanes / 2 : 0));
}

// Runs PASS over all heads, kLanes at a time.
#undef MOLGRAPH_FOR_ALL_HEADS
#if HWY_TARGET <= HWY_AVX3
#define MOLGRAPH_FOR_ALL_HEADS(PASS, HEADS, ...) \
  if ((HEADS) == kLanes / 2) {                   \
    PASS<TwoRows>(__VA_ARGS__, 0);               \
  } else                                         \
    for (std::size_t lane = 0; lane < (HEADS); lane += kLanes) PASS<OneRow>(__VA_ARGS__, lane)
#else
#define MOLGRAPH_FOR_ALL_HEADS(PASS, HEADS, ...) \
  for (std::size_t lane = 0; lane < (HEADS); lane += kLanes) PASS<OneRow>(__VA_ARGS__, lane)
#endif

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
