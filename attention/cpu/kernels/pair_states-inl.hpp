// States of pairs (spec/pair_states.hpp): their first values, what a layer reads from them and adds to them, and the
// gradients. One query i at a time: the n states (i, j) stay in the first-level cache until the next layer's bias is
// computed from them. States e [n*n, S], S a multiple of kBlock; per-head values [n*n, H].
#if defined(MOLGRAPH_CPU_PAIR_STATES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_PAIR_STATES_INL
#undef MOLGRAPH_CPU_PAIR_STATES_INL
#else
#define MOLGRAPH_CPU_PAIR_STATES_INL
#endif

#include "attention/cpu/kernels/rows-inl.hpp"
#include "attention/cpu/kernels/walks-inl.hpp"
#include "attention/spec/pair_states.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

using HeadVec = hn::Vec<FewHeads>;
inline constexpr std::size_t kHeadLanes = hn::MaxLanes(FewHeads());

// y [R, columns] (+)= x [R, depth] * w [depth, columns], for the lanes of D from `column` on.
template <class D, bool kAdd>
struct Rows {
  const float* x;
  std::size_t depth;
  const float* w;
  std::size_t columns, column;
  float* y;
  template <int R>
  HWY_NOINLINE void run(std::size_t first) const {
    const D tag;
    hn::Vec<D> sum[R];
    const float* row = x + first * depth;
    float* to = y + first * columns + column;
#pragma GCC unroll 10
    for (int r = 0; r < R; ++r)
      sum[r] = kAdd ? hn::LoadU(tag, to + static_cast<std::size_t>(r) * columns) : hn::Zero(tag);
    for (std::size_t k = 0; k < depth; ++k) {
      const hn::Vec<D> weight = hn::LoadU(tag, w + k * columns + column);
#pragma GCC unroll 10
      for (int r = 0; r < R; ++r)
        sum[r] = hn::MulAdd(hn::Set(tag, row[static_cast<std::size_t>(r) * depth + k]), weight, sum[r]);
    }
#pragma GCC unroll 10
    for (int r = 0; r < R; ++r) hn::StoreU(sum[r], tag, to + static_cast<std::size_t>(r) * columns);
  }
};

// y [rows, columns] (+)= x [rows, depth] * w [depth, columns]; `columns` is a multiple of D's lanes.
template <class D, bool kAdd>
HWY_INLINE void multiply_rows(const float* x, std::size_t rows, std::size_t depth, const float* w, std::size_t columns,
                              float* y) {
  for (std::size_t column = 0; column < columns; column += hn::MaxLanes(D()))
    in_parts(rows, Rows<D, kAdd>{x, depth, w, columns, column, y});
}

// out [width, columns] (+)= x [rows, width]^T * y [rows, columns]; `width` is a multiple of 8, `columns` of D's lanes.
template <class D, bool kAdd>
HWY_NOINLINE void sum_rows(const float* HWY_RESTRICT x, std::size_t width, const float* HWY_RESTRICT y,
                           std::size_t columns, std::size_t rows, float* HWY_RESTRICT out) {
  const D tag;
  constexpr int kAtOnce = 8;
  for (std::size_t column = 0; column < columns; column += hn::MaxLanes(tag))
    for (std::size_t first = 0; first < width; first += kAtOnce) {
      hn::Vec<D> sum[kAtOnce];
      float* to = out + first * columns + column;
#pragma GCC unroll 8
      for (int u = 0; u < kAtOnce; ++u)
        sum[u] = kAdd ? hn::LoadU(tag, to + static_cast<std::size_t>(u) * columns) : hn::Zero(tag);
      for (std::size_t r = 0; r < rows; ++r) {
        const hn::Vec<D> factor = hn::LoadU(tag, y + r * columns + column);
        const float* row = x + r * width + first;
#pragma GCC unroll 8
        for (int u = 0; u < kAtOnce; ++u) sum[u] = hn::MulAdd(hn::Set(tag, row[u]), factor, sum[u]);
      }
#pragma GCC unroll 8
      for (int u = 0; u < kAtOnce; ++u) hn::StoreU(sum[u], tag, to + static_cast<std::size_t>(u) * columns);
    }
}

// z [U, H] += sum over s of read[s] * value[s, U].
struct ReadValues {
  const float *read, *value;
  std::size_t width, value_stride, heads, head;
  float* z;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    const FewHeads tag;
    HeadVec sum[U];
    float* to = z + first * heads + head;
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) sum[u] = hn::LoadU(tag, to + static_cast<std::size_t>(u) * heads);
    for (std::size_t s = 0; s < width; ++s) {
      const HeadVec factor = hn::LoadU(tag, read + s * heads + head);
      const float* row = value + s * value_stride + first * heads + head;
#pragma GCC unroll 10
      for (int u = 0; u < U; ++u)
        sum[u] = hn::MulAdd(factor, hn::LoadU(tag, row + static_cast<std::size_t>(u) * heads), sum[u]);
    }
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) hn::StoreU(sum[u], tag, to + static_cast<std::size_t>(u) * heads);
  }
};

// dread[s] += sum over U of dz[U] * value[s, U];  dvalue[s, U] += read[s] * dz[U].
struct ReadValuesBack {
  const float *read, *value, *dz;
  std::size_t width, value_stride, heads, head;
  float *dread, *dvalue;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    const FewHeads tag;
    HeadVec slope[U];
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) slope[u] = hn::LoadU(tag, dz + (first + static_cast<std::size_t>(u)) * heads + head);
    for (std::size_t s = 0; s < width; ++s) {
      const std::size_t at = s * value_stride + first * heads + head;
      const HeadVec factor = hn::LoadU(tag, read + s * heads + head);
      HeadVec sum = hn::LoadU(tag, dread + s * heads + head);
#pragma GCC unroll 10
      for (int u = 0; u < U; ++u) {
        const std::size_t channel = at + static_cast<std::size_t>(u) * heads;
        sum = hn::MulAdd(slope[u], hn::LoadU(tag, value + channel), sum);
        hn::StoreU(hn::MulAdd(factor, slope[u], hn::LoadU(tag, dvalue + channel)), tag, dvalue + channel);
      }
      hn::StoreU(sum, tag, dread + s * heads + head);
    }
  }
};

// features [n, 2H] = bounded(scores), kPairWeight * softmax; both [n, H].
HWY_INLINE void pair_features(const float* scores, const float* softmax, std::size_t n, std::size_t heads,
                              float* features) {
  const FewHeads tag;
  const HeadVec share = hn::Set(tag, static_cast<float>(1 / kPairBound)), one = hn::Set(tag, 1.0f),
                factor = hn::Set(tag, static_cast<float>(kPairWeight));
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t h = 0; h < heads; h += kHeadLanes) {
      const HeadVec s = hn::LoadU(tag, scores + p * heads + h);
      float* to = features + 2 * p * heads + h;
      hn::StoreU(hn::Div(s, hn::MulAdd(hn::Abs(s), share, one)), tag, to);
      hn::StoreU(hn::Mul(hn::LoadU(tag, softmax + p * heads + h), factor), tag, to + heads);
    }
}

HWY_INLINE void pair_features_gradient(const float* scores, const float* dfeatures, std::size_t n, std::size_t heads,
                                       float* dscores, float* dsoftmax) {
  const FewHeads tag;
  const HeadVec share = hn::Set(tag, static_cast<float>(1 / kPairBound)), one = hn::Set(tag, 1.0f),
                factor = hn::Set(tag, static_cast<float>(kPairWeight));
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t h = 0; h < heads; h += kHeadLanes) {
      const HeadVec divisor = hn::MulAdd(hn::Abs(hn::LoadU(tag, scores + p * heads + h)), share, one);
      const float* from = dfeatures + 2 * p * heads + h;
      hn::StoreU(hn::Div(hn::LoadU(tag, from), hn::Mul(divisor, divisor)), tag, dscores + p * heads + h);
      hn::StoreU(hn::Mul(hn::LoadU(tag, from + heads), factor), tag, dsoftmax + p * heads + h);
    }
}

// r_ij of query i as rows [n, stride], zero beyond K; `vectors` [K, n j, n i].
HWY_INLINE void vectors_of_query(const PairStart& g, std::size_t i, std::size_t stride, float* rows) {
  const std::size_t n = g.tokens;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t t = 0; t < stride; ++t) rows[j * stride + t] = t < g.columns ? g.vectors[(t * n + j) * n + i] : 0;
}

HWY_INLINE void add_row(const float* from, float* to, std::size_t width) {
  const Tag tag;
  for (std::size_t c = 0; c < width; c += kLanes)
    hn::StoreU(hn::Add(hn::LoadU(tag, to + c), hn::LoadU(tag, from + c)), tag, to + c);
}

void pair_start(const PairStart& g) {
  const std::size_t n = g.tokens;
  for (std::size_t i = 0; i < g.queries; ++i) {
    float* e = g.e + i * n * g.width;
    for (std::size_t j = 0; j < n; ++j) {
      const float* row = g.rows + g.relation[i * n + j] * g.width;
      for (std::size_t c = 0; c < g.width; c += kLanes)
        hn::StoreU(hn::LoadU(Tag(), row + c), Tag(), e + j * g.width + c);
    }
    if (g.columns > 0) {
      vectors_of_query(g, i, g.columns, g.scratch);
      multiply_rows<Tag, true>(g.scratch, n, g.columns, g.vector_weight, g.width, e);
    }
    multiply_rows<FewHeads, false>(e, n, g.width, g.bias_weight, g.heads, g.bias + i * n * g.heads);
  }
}

void pair_start_gradient(const PairStart& g, const PairStartGradient& d) {
  const std::size_t n = g.tokens;
  for (std::size_t i = 0; i < g.queries; ++i) {
    const float* dbias = d.dbias + i * n * g.heads;
    float* de = d.de + i * n * g.width;
    sum_rows<Tag, true>(dbias, g.heads, g.e + i * n * g.width, g.width, n, d.dbias_weight);
    multiply_rows<Tag, true>(dbias, n, g.heads, d.bias_weight, g.width, de);
    for (std::size_t j = 0; j < n; ++j) add_row(de + j * g.width, d.drows + g.relation[i * n + j] * g.width, g.width);
    if (g.columns == 0) continue;
    vectors_of_query(g, i, padded(g.columns), g.scratch);
    sum_rows<Tag, true>(g.scratch, padded(g.columns), de, g.width, n, d.dvector_weight);
  }
}

void pair_layer(const PairLayer& g) {
  const std::size_t n = g.tokens;
  for (std::size_t i = 0; i < g.queries; ++i) {
    const std::size_t state = i * n * g.width, pair = i * n * g.heads;
    const float* e = g.e + state;
    float* read = g.read + i * g.width * g.heads;
    sum_rows<FewHeads, false>(e, g.width, g.weights + pair, g.heads, n, read);
    for (std::size_t head = 0; head < g.heads; head += kHeadLanes)
      in_parts(g.head_width,
               ReadValues{read, g.value, g.width, g.head_width * g.heads, g.heads, head, g.z + i * g.z_stride});
    if (i >= g.next_queries) continue;
    pair_features(g.scores + pair, g.softmax + pair, n, g.heads, g.scratch);
    float* next = g.next + state;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t c = 0; c < g.width; c += kLanes)
        hn::StoreU(hn::Add(hn::LoadU(Tag(), e + j * g.width + c), hn::LoadU(Tag(), g.update_bias + c)), Tag(),
                   next + j * g.width + c);
    multiply_rows<Tag, true>(g.scratch, n, 2 * g.heads, g.update, g.width, next);
    multiply_rows<FewHeads, false>(next, n, g.width, g.next_bias_weight, g.heads, g.next_bias + pair);
  }
}

void pair_layer_gradient(const PairLayer& g, const PairLayerGradient& d) {
  const std::size_t n = g.tokens, inputs = 2 * g.heads;
  float *features = g.scratch, *dfeatures = features + n * inputs, *dread = dfeatures + n * inputs,
        *dread_by_head = dread + g.width * g.heads;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t state = i * n * g.width, pair = i * n * g.heads;
    float* de = d.de + state;
    if (i < g.next_queries) {
      const float* dbias = d.dnext_bias + pair;
      multiply_rows<Tag, true>(dbias, n, g.heads, d.next_bias_weight, g.width, de);
      if (d.dupdate != nullptr) {
        sum_rows<Tag, true>(dbias, g.heads, g.next + state, g.width, n, d.dnext_bias_weight);
        pair_features(g.scores + pair, g.softmax + pair, n, g.heads, features);
        sum_rows<Tag, true>(features, inputs, de, g.width, n, d.dupdate);
        column_sums(de, n, g.width, g.width, d.dupdate_bias);
      }
      multiply_rows<Tag, false>(de, n, g.width, d.update, inputs, dfeatures);
      pair_features_gradient(g.scores + pair, dfeatures, n, g.heads, d.dscores + pair, d.dsoftmax + pair);
    } else {
      zero(de, n * g.width);
      if (g.next_queries > 0) zero(d.dscores + pair, n * g.heads), zero(d.dsoftmax + pair, n * g.heads);
    }
    if (i >= g.queries) continue;
    zero(dread, g.width * g.heads);
    const float* dz = d.dz + i * d.dz_stride;
    for (std::size_t head = 0; head < g.heads; head += kHeadLanes)
      in_parts(g.head_width, ReadValuesBack{g.read + i * g.width * g.heads, g.value, dz, g.width,
                                            g.head_width * g.heads, g.heads, head, dread, d.dvalue});
    multiply_rows<FewHeads, false>(g.e + state, n, g.width, dread, g.heads, d.dweights + pair);
    for (std::size_t s = 0; s < g.width; ++s)
      for (std::size_t h = 0; h < g.heads; ++h) dread_by_head[h * g.width + s] = dread[s * g.heads + h];
    multiply_rows<Tag, true>(g.weights + pair, n, g.heads, dread_by_head, g.width, de);
  }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
