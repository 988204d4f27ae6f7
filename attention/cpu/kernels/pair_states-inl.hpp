// States of pairs (spec/pair_states.hpp): their first values, what a layer reads from them and adds to them, and the
// gradients. The kernels process one query i at a time, so that its n states usually stay in the cache until the next
// layer's bias is computed from them. States e [n*n, S], S a multiple of kBlock; per-head values [n*n, H].
//
// Arrays [S/G, ..., H, G] contain G = states_at_once() states next to each other, so that a vector of 16 lanes is full
// with 8 heads too.
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

struct OneState {
  static constexpr std::size_t kStates = 1;
  static HWY_INLINE Vec states(const float* p) { return hn::Set(Tag(), *p); }
  static HWY_INLINE Vec heads(const float* p) { return hn::LoadU(Tag(), p); }
  static HWY_INLINE void store(Vec v, float* heads) { hn::StoreU(v, Tag(), heads); }
  static HWY_INLINE void add(Vec v, float* p) { store(hn::Add(v, heads(p)), p); }
};

#if HWY_TARGET <= HWY_AVX3
// 16 lanes, 8 heads: lanes 2h and 2h + 1 belong to head h and to two consecutive states.
struct TwoStates {
  static constexpr std::size_t kStates = 2;
  using Half = hn::Half<Tag>;
  static HWY_INLINE Vec states(const float* p) { return TwoRows::scalars(p); }
  static HWY_INLINE Vec heads(const float* p) {
    const __m512i order = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return Vec{_mm512_permutexvar_ps(order, _mm512_castps256_ps512(_mm256_loadu_ps(p)))};
  }
  static HWY_INLINE hn::Vec<Half> sum(Vec v) {
    const Vec ordered = TwoRows::deinterleaved(v);
    return hn::Add(hn::LowerHalf(Half(), ordered), hn::UpperHalf(Half(), ordered));
  }
  static HWY_INLINE void store(Vec v, float* heads) { hn::StoreU(sum(v), Half(), heads); }
  static HWY_INLINE void add(Vec v, float* heads) {
    hn::StoreU(hn::Add(sum(v), hn::LoadU(Half(), heads)), Half(), heads);
  }
};
#endif

std::size_t states_at_once([[maybe_unused]] std::size_t heads) {
#if HWY_TARGET <= HWY_AVX3
  if (heads == kLanes / 2) return TwoStates::kStates;
#endif
  return OneState::kStates;
}

// y [R, H] = e [R, S] * w [S/G, H, G], for the lanes from `lane` on.
template <class P>
struct ToHeads {
  const float *e, *w;
  std::size_t width, heads, lane;
  float* y;
  template <int R>
  HWY_NOINLINE void run(std::size_t first) const {
    Vec sum[R];
    const float* row = e + first * width;
#pragma GCC unroll 10
    for (int r = 0; r < R; ++r) sum[r] = hn::Zero(Tag());
    for (std::size_t s = 0; s < width; s += P::kStates) {
      const Vec weight = hn::LoadU(Tag(), w + s * heads + lane);
#pragma GCC unroll 10
      for (int r = 0; r < R; ++r)
        sum[r] = hn::MulAdd(P::states(row + static_cast<std::size_t>(r) * width + s), weight, sum[r]);
    }
#pragma GCC unroll 10
    for (int r = 0; r < R; ++r) P::store(sum[r], y + (first + static_cast<std::size_t>(r)) * heads + lane / P::kStates);
  }
};

template <class P>
HWY_INLINE void to_heads(const float* e, std::size_t rows, std::size_t width, const float* w, std::size_t heads,
                         float* y) {
  for (std::size_t lane = 0; lane < heads * P::kStates; lane += kLanes)
    in_parts(rows, ToHeads<P>{e, w, width, heads, lane, y});
}

// out [S/G, H, G] = e [rows, S]^T * y [rows, H].
template <class P>
HWY_NOINLINE void sums_by_head(const float* HWY_RESTRICT e, const float* HWY_RESTRICT y, std::size_t rows,
                               std::size_t width, std::size_t heads, float* HWY_RESTRICT out) {
  constexpr int kAtOnce = 8;
  for (std::size_t lane = 0; lane < heads * P::kStates; lane += kLanes)
    for (std::size_t first = 0; first < width; first += kAtOnce * P::kStates) {
      Vec sum[kAtOnce];
#pragma GCC unroll 8
      for (int u = 0; u < kAtOnce; ++u) sum[u] = hn::Zero(Tag());
      for (std::size_t r = 0; r < rows; ++r) {
        const Vec factor = P::heads(y + r * heads + lane / P::kStates);
        const float* row = e + r * width + first;
#pragma GCC unroll 8
        for (int u = 0; u < kAtOnce; ++u)
          sum[u] = hn::MulAdd(P::states(row + static_cast<std::size_t>(u) * P::kStates), factor, sum[u]);
      }
#pragma GCC unroll 8
      for (int u = 0; u < kAtOnce; ++u)
        hn::StoreU(sum[u], Tag(), out + (first + static_cast<std::size_t>(u) * P::kStates) * heads + lane);
    }
}

// z [U, H] += sum over s of read[s] * value[s, U]; read [S/G, H, G], value [S/G, d, H, G].
template <class P>
struct ReadValues {
  const float *read, *value;
  std::size_t width, head_width, heads, lane;
  float* z;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    Vec sum[U];
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) sum[u] = hn::Zero(Tag());
    for (std::size_t s = 0; s < width; s += P::kStates) {
      const Vec factor = hn::LoadU(Tag(), read + s * heads + lane);
      const float* row = value + (s * head_width + first * P::kStates) * heads + lane;
#pragma GCC unroll 10
      for (int u = 0; u < U; ++u)
        sum[u] = hn::MulAdd(factor, hn::LoadU(Tag(), row + static_cast<std::size_t>(u) * P::kStates * heads), sum[u]);
    }
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) P::add(sum[u], z + (first + static_cast<std::size_t>(u)) * heads + lane / P::kStates);
  }
};

// dread[s] += sum over U of dz[U] * value[s, U];  dvalue[s, U] += read[s] * dz[U].
template <class P>
struct ReadValuesBack {
  const float *read, *value, *dz;
  std::size_t width, head_width, heads, lane;
  float *dread, *dvalue;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    Vec slope[U];
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u)
      slope[u] = P::heads(dz + (first + static_cast<std::size_t>(u)) * heads + lane / P::kStates);
    for (std::size_t s = 0; s < width; s += P::kStates) {
      const std::size_t at = (s * head_width + first * P::kStates) * heads + lane;
      const Vec factor = hn::LoadU(Tag(), read + s * heads + lane);
      Vec sum = hn::LoadU(Tag(), dread + s * heads + lane);
#pragma GCC unroll 10
      for (int u = 0; u < U; ++u) {
        const std::size_t channel = at + static_cast<std::size_t>(u) * P::kStates * heads;
        sum = hn::MulAdd(slope[u], hn::LoadU(Tag(), value + channel), sum);
        hn::StoreU(hn::MulAdd(factor, slope[u], hn::LoadU(Tag(), dvalue + channel)), Tag(), dvalue + channel);
      }
      hn::StoreU(sum, Tag(), dread + s * heads + lane);
    }
  }
};

// [S/G, H, G] -> [H, S].
template <class P>
HWY_INLINE void to_head_rows(const float* HWY_RESTRICT x, std::size_t width, std::size_t heads,
                             float* HWY_RESTRICT out) {
  for (std::size_t s = 0; s < width; s += P::kStates)
    for (std::size_t h = 0; h < heads; ++h)
      std::memcpy(out + h * width + s, x + s * heads + h * P::kStates, P::kStates * sizeof(float));
}

// y [rows, columns] = from + x [rows, K of depth] * w [K of depth, columns]; `from` [rows, columns] may be y. The K
// rows of w stay in registers.
template <int K>
HWY_NOINLINE void add_few_inputs(const float* x, std::size_t depth, std::size_t rows, const float* w,
                                 std::size_t columns, const float* from, float* y) {
  for (std::size_t c = 0; c < columns; c += kLanes) {
    Vec weight[K];
#pragma GCC unroll 16
    for (int k = 0; k < K; ++k) weight[k] = hn::LoadU(Tag(), w + static_cast<std::size_t>(k) * columns + c);
    for (std::size_t r = 0; r < rows; ++r) {
      const float* factor = x + r * depth;
      Vec a = hn::LoadU(Tag(), from + r * columns + c), b = hn::Zero(Tag());
#pragma GCC unroll 16
      for (int k = 0; k < K; ++k) {
        if (k % 2 == 0) a = hn::MulAdd(hn::Set(Tag(), factor[k]), weight[k], a);
        else b = hn::MulAdd(hn::Set(Tag(), factor[k]), weight[k], b);
      }
      hn::StoreU(hn::Add(a, b), Tag(), y + r * columns + c);
    }
  }
}

// y [rows, columns] = from + x [rows, depth] * w [depth, columns]; `depth` is a multiple of 8.
HWY_INLINE void add_matrix_product(const float* x, std::size_t rows, std::size_t depth, const float* w,
                                   std::size_t columns, const float* from, float* y) {
  std::size_t k = 0;
  if constexpr (kLanes == kBlock)  // these instruction sets have 32 registers
    for (; k + 16 <= depth; k += 16, from = y)
      add_few_inputs<16>(x + k, depth, rows, w + k * columns, columns, from, y);
  for (; k < depth; k += 8, from = y) add_few_inputs<8>(x + k, depth, rows, w + k * columns, columns, from, y);
}

// out [width, columns] += x [rows, width]^T * y [rows, columns]; `width` is a multiple of 8.
HWY_NOINLINE void add_transposed_product(const float* HWY_RESTRICT x, std::size_t width, const float* HWY_RESTRICT y,
                                         std::size_t columns, std::size_t rows, float* HWY_RESTRICT out) {
  constexpr int kAtOnce = 8;
  for (std::size_t column = 0; column < columns; column += kLanes)
    for (std::size_t first = 0; first < width; first += kAtOnce) {
      Vec sum[kAtOnce];
      float* to = out + first * columns + column;
#pragma GCC unroll 8
      for (int u = 0; u < kAtOnce; ++u) sum[u] = hn::LoadU(Tag(), to + static_cast<std::size_t>(u) * columns);
      for (std::size_t r = 0; r < rows; ++r) {
        const Vec factor = hn::LoadU(Tag(), y + r * columns + column);
        const float* row = x + r * width + first;
#pragma GCC unroll 8
        for (int u = 0; u < kAtOnce; ++u) sum[u] = hn::MulAdd(hn::Set(Tag(), row[u]), factor, sum[u]);
      }
#pragma GCC unroll 8
      for (int u = 0; u < kAtOnce; ++u) hn::StoreU(sum[u], Tag(), to + static_cast<std::size_t>(u) * columns);
    }
}

// features [n, 2H] = bounded(scores), kPairWeight * softmax; both [n, H].
HWY_INLINE void pair_features(const float* scores, const float* softmax, std::size_t n, std::size_t heads,
                              float* features) {
  const FewHeads tag;
  const hn::Vec<FewHeads> share = hn::Set(tag, static_cast<float>(1 / kPairBound)), one = hn::Set(tag, 1.0f),
                          factor = hn::Set(tag, static_cast<float>(kPairWeight));
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t h = 0; h < heads; h += hn::MaxLanes(tag)) {
      const hn::Vec<FewHeads> s = hn::LoadU(tag, scores + p * heads + h);
      float* to = features + 2 * p * heads + h;
      hn::StoreU(hn::Div(s, hn::MulAdd(hn::Abs(s), share, one)), tag, to);
      hn::StoreU(hn::Mul(hn::LoadU(tag, softmax + p * heads + h), factor), tag, to + heads);
    }
}

HWY_INLINE void pair_features_gradient(const float* scores, const float* dfeatures, std::size_t n, std::size_t heads,
                                       float* dscores, float* dsoftmax) {
  const FewHeads tag;
  const hn::Vec<FewHeads> share = hn::Set(tag, static_cast<float>(1 / kPairBound)), one = hn::Set(tag, 1.0f),
                          factor = hn::Set(tag, static_cast<float>(kPairWeight));
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t h = 0; h < heads; h += hn::MaxLanes(tag)) {
      const hn::Vec<FewHeads> divisor = hn::MulAdd(hn::Abs(hn::LoadU(tag, scores + p * heads + h)), share, one);
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

template <class P>
void start_with(const PairStart& g) {
  const std::size_t n = g.tokens, columns = padded(g.columns);
  for (std::size_t i = 0; i < g.queries; ++i) {
    float* e = g.e + i * n * g.width;
    for (std::size_t j = 0; j < n; ++j) std::copy_n(g.rows + g.relation[i * n + j] * g.width, g.width, e + j * g.width);
    if (g.columns > 0) {
      vectors_of_query(g, i, columns, g.scratch);
      add_matrix_product(g.scratch, n, columns, g.vector_weight, g.width, e, e);
    }
    to_heads<P>(e, n, g.width, g.bias_weight, g.heads, g.bias + i * n * g.heads);
  }
}

void pair_start_gradient(const PairStart& g, const PairStartGradient& d) {
  const std::size_t n = g.tokens, columns = padded(g.columns);
  for (std::size_t i = 0; i < g.queries; ++i) {
    const float* dbias = d.dbias + i * n * g.heads;
    float* de = d.de + i * n * g.width;
    add_transposed_product(dbias, g.heads, g.e + i * n * g.width, g.width, n, d.dbias_weight);
    add_matrix_product(dbias, n, g.heads, d.bias_weight, g.width, de, de);
    for (std::size_t j = 0; j < n; ++j) add(de + j * g.width, d.drows + g.relation[i * n + j] * g.width, g.width);
    if (g.columns == 0) continue;
    vectors_of_query(g, i, columns, g.scratch);
    add_transposed_product(g.scratch, columns, de, g.width, n, d.dvector_weight);
  }
}

template <class P>
void layer_with(const PairLayer& g) {
  const std::size_t n = g.tokens;
  for (std::size_t i = 0; i < g.queries; ++i) {
    const std::size_t state = i * n * g.width, pair = i * n * g.heads;
    const float* e = g.e + state;
    float* read = g.read + i * g.width * g.heads;
    sums_by_head<P>(e, g.weights + pair, n, g.width, g.heads, read);
    for (std::size_t lane = 0; lane < g.heads * P::kStates; lane += kLanes)
      in_parts(g.head_width, ReadValues<P>{read, g.value, g.width, g.head_width, g.heads, lane, g.z + i * g.z_stride});
    if (i >= g.next_queries) continue;
    float *next = g.next + state, *features = g.scratch;
    pair_features(g.scores + pair, g.softmax + pair, n, g.heads, features);
    add_matrix_product(features, n, 2 * g.heads, g.update, g.width, e, next);
    for (std::size_t j = 0; j < n; ++j) add(g.update_bias, next + j * g.width, g.width);
    to_heads<P>(next, n, g.width, g.next_bias_weight, g.heads, g.next_bias + pair);
  }
}

template <class P>
void layer_gradient_with(const PairLayer& g, const PairLayerGradient& d) {
  const std::size_t n = g.tokens, inputs = 2 * g.heads;
  float *features = g.scratch, *dfeatures = features + n * inputs, *dread = dfeatures + n * inputs,
        *dread_by_head = dread + g.width * g.heads;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t state = i * n * g.width, pair = i * n * g.heads;
    float* de = d.de + state;
    if (i < g.next_queries) {
      const float* dbias = d.dnext_bias + pair;
      add_matrix_product(dbias, n, g.heads, d.next_bias_weight, g.width, de, de);
      if (d.dupdate != nullptr) {
        add_transposed_product(dbias, g.heads, g.next + state, g.width, n, d.dnext_bias_weight);
        pair_features(g.scores + pair, g.softmax + pair, n, g.heads, features);
        add_transposed_product(features, inputs, de, g.width, n, d.dupdate);
        column_sums(de, n, g.width, g.width, d.dupdate_bias);
      }
      to_heads<OneState>(de, n, g.width, d.update, inputs, dfeatures);
      pair_features_gradient(g.scores + pair, dfeatures, n, g.heads, d.dscores + pair, d.dsoftmax + pair);
    } else {
      zero(de, n * g.width);
      if (g.next_queries > 0) zero(d.dscores + pair, n * g.heads), zero(d.dsoftmax + pair, n * g.heads);
    }
    if (i >= g.queries) continue;
    zero(dread, g.width * g.heads);
    for (std::size_t lane = 0; lane < g.heads * P::kStates; lane += kLanes)
      in_parts(g.head_width, ReadValuesBack<P>{g.read + i * g.width * g.heads, g.value, d.dz + i * d.dz_stride, g.width,
                                               g.head_width, g.heads, lane, dread, d.dvalue});
    to_heads<P>(g.e + state, n, g.width, dread, g.heads, d.dweights + pair);
    to_head_rows<P>(dread, g.width, g.heads, dread_by_head);
    add_matrix_product(g.weights + pair, n, g.heads, dread_by_head, g.width, de, de);
  }
}

// Calls work(P) for the policy of this number of heads.
template <class Work>
HWY_INLINE void with_states([[maybe_unused]] std::size_t heads, Work work) {
#if HWY_TARGET <= HWY_AVX3
  if (states_at_once(heads) == TwoStates::kStates) return work(TwoStates());
#endif
  work(OneState());
}

void pair_start(const PairStart& g) {
  with_states(g.heads, [&](auto p) { start_with<decltype(p)>(g); });
}
void pair_layer(const PairLayer& g) {
  with_states(g.heads, [&](auto p) { layer_with<decltype(p)>(g); });
}
void pair_layer_gradient(const PairLayer& g, const PairLayerGradient& d) {
  with_states(g.heads, [&](auto p) { layer_gradient_with<decltype(p)>(g, d); });
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
