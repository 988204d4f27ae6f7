// States of pairs (spec/pair_states.hpp): what a layer reads from them and adds to them. States e [pairs, S], S a
// multiple of kBlock; per-head values [pairs, H].
#if defined(MOLGRAPH_CPU_PAIR_STATES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_PAIR_STATES_INL
#undef MOLGRAPH_CPU_PAIR_STATES_INL
#else
#define MOLGRAPH_CPU_PAIR_STATES_INL
#endif

#include "attention/cpu/kernels/walks-inl.hpp"
#include "attention/spec/pair_states.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

using HeadVec = hn::Vec<FewHeads>;
inline constexpr std::size_t kHeadLanes = hn::MaxLanes(FewHeads());
inline constexpr int kRowsAtOnce = 8;

// y[r] (+)= sum over `depth` of x[r, k] * w[k] for R rows and the heads from `head` on.
template <int R, bool kAdd>
HWY_INLINE void rows_to_heads(const float* HWY_RESTRICT x, std::size_t depth, const float* HWY_RESTRICT w,
                              std::size_t heads, std::size_t head, float* HWY_RESTRICT y) {
  const FewHeads tag;
  HeadVec sum[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
    sum[r] = kAdd ? hn::LoadU(tag, y + static_cast<std::size_t>(r) * heads + head) : hn::Zero(tag);
  for (std::size_t k = 0; k < depth; ++k) {
    const HeadVec weight = hn::LoadU(tag, w + k * heads + head);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[r] = hn::MulAdd(hn::Set(tag, x[static_cast<std::size_t>(r) * depth + k]), weight, sum[r]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) hn::StoreU(sum[r], tag, y + static_cast<std::size_t>(r) * heads + head);
}

// y [rows, H] (+)= x [rows, depth] * w [depth, H].
template <bool kAdd>
void to_heads(const float* x, std::size_t rows, std::size_t depth, const float* w, std::size_t heads, float* y) {
  for (std::size_t head = 0; head < heads; head += kHeadLanes) {
    std::size_t r = 0;
    for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce)
      rows_to_heads<kRowsAtOnce, kAdd>(x + r * depth, depth, w, heads, head, y + r * heads);
    for (; r < rows; ++r) rows_to_heads<1, kAdd>(x + r * depth, depth, w, heads, head, y + r * heads);
  }
}

// out [width, H] (+)= x [rows, width]^T * y [rows, H].
template <bool kAdd>
void sums_by_head(const float* HWY_RESTRICT x, const float* HWY_RESTRICT y, std::size_t rows, std::size_t width,
                  std::size_t heads, float* HWY_RESTRICT out) {
  const FewHeads tag;
  for (std::size_t head = 0; head < heads; head += kHeadLanes)
    for (std::size_t first = 0; first < width; first += kRowsAtOnce) {
      HeadVec sum[kRowsAtOnce];
      float* to = out + first * heads + head;
#pragma GCC unroll 8
      for (int u = 0; u < kRowsAtOnce; ++u)
        sum[u] = kAdd ? hn::LoadU(tag, to + static_cast<std::size_t>(u) * heads) : hn::Zero(tag);
      for (std::size_t r = 0; r < rows; ++r) {
        const HeadVec factor = hn::LoadU(tag, y + r * heads + head);
        const float* row = x + r * width + first;
#pragma GCC unroll 8
        for (int u = 0; u < kRowsAtOnce; ++u) sum[u] = hn::MulAdd(hn::Set(tag, row[u]), factor, sum[u]);
      }
#pragma GCC unroll 8
      for (int u = 0; u < kRowsAtOnce; ++u) hn::StoreU(sum[u], tag, to + static_cast<std::size_t>(u) * heads);
    }
}

// e [rows, width] += y [rows, H] * w [width, H]^T. `turned` has room for [H, width].
void add_from_heads(const float* HWY_RESTRICT y, std::size_t rows, const float* HWY_RESTRICT w, std::size_t width,
                    std::size_t heads, float* HWY_RESTRICT turned, float* HWY_RESTRICT e) {
  const Tag tag;
  for (std::size_t n = 0; n < width; ++n)
    for (std::size_t h = 0; h < heads; ++h) turned[h * width + n] = w[n * heads + h];
  for (std::size_t c = 0; c < width; c += kLanes)
    for (std::size_t first = 0; first < heads; first += kRowsAtOnce) {
      Vec weight[kRowsAtOnce];
#pragma GCC unroll 8
      for (int u = 0; u < kRowsAtOnce; ++u)
        weight[u] = hn::LoadU(tag, turned + (first + static_cast<std::size_t>(u)) * width + c);
      for (std::size_t r = 0; r < rows; ++r) {
        const float* factor = y + r * heads + first;
        Vec a = hn::LoadU(tag, e + r * width + c), b = hn::Zero(tag);
#pragma GCC unroll 8
        for (int u = 0; u < kRowsAtOnce; ++u) {
          if (u % 2 == 0) a = hn::MulAdd(hn::Set(tag, factor[u]), weight[u], a);
          else b = hn::MulAdd(hn::Set(tag, factor[u]), weight[u], b);
        }
        hn::StoreU(hn::Add(a, b), tag, e + r * width + c);
      }
    }
}

void pair_bias(const float* e, std::size_t pairs, std::size_t width, const float* weight, std::size_t heads,
               float* bias) {
  to_heads<true>(e, pairs, width, weight, heads, bias);
}

void pair_bias_gradient(const float* e, std::size_t pairs, std::size_t width, const float* weight, std::size_t heads,
                        const float* dbias, float* scratch, float* de, float* dweight) {
  sums_by_head<true>(e, dbias, pairs, width, heads, dweight);
  add_from_heads(dbias, pairs, weight, width, heads, scratch, de);
}

// z [U, H] += sum over n of read[n] * value[n, U].
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
    for (std::size_t n = 0; n < width; ++n) {
      const HeadVec factor = hn::LoadU(tag, read + n * heads + head);
      const float* row = value + n * value_stride + first * heads + head;
#pragma GCC unroll 10
      for (int u = 0; u < U; ++u)
        sum[u] = hn::MulAdd(factor, hn::LoadU(tag, row + static_cast<std::size_t>(u) * heads), sum[u]);
    }
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) hn::StoreU(sum[u], tag, to + static_cast<std::size_t>(u) * heads);
  }
};

// dread[n] += sum over U of dz[U] * value[n, U];  dvalue[n, U] += read[n] * dz[U].
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
    for (std::size_t n = 0; n < width; ++n) {
      const std::size_t at = n * value_stride + first * heads + head;
      const HeadVec factor = hn::LoadU(tag, read + n * heads + head);
      HeadVec sum = hn::LoadU(tag, dread + n * heads + head);
#pragma GCC unroll 10
      for (int u = 0; u < U; ++u) {
        const std::size_t channel = at + static_cast<std::size_t>(u) * heads;
        sum = hn::MulAdd(slope[u], hn::LoadU(tag, value + channel), sum);
        hn::StoreU(hn::MulAdd(factor, slope[u], hn::LoadU(tag, dvalue + channel)), tag, dvalue + channel);
      }
      hn::StoreU(sum, tag, dread + n * heads + head);
    }
  }
};

void pair_values(const PairRead& g) {
  for (std::size_t i = 0; i < g.queries; ++i) {
    float* read = g.read + i * g.width * g.heads;
    sums_by_head<false>(g.e + i * g.tokens * g.width, g.weights + i * g.tokens * g.heads, g.tokens, g.width, g.heads,
                        read);
    for (std::size_t head = 0; head < g.heads; head += kHeadLanes)
      in_parts(g.head_width,
               ReadValues{read, g.value, g.width, g.head_width * g.heads, g.heads, head, g.z + i * g.z_stride});
  }
}

void pair_values_gradient(const PairRead& g, const PairReadGradient& d) {
  float* dread = d.scratch + g.heads * g.width;
  for (std::size_t i = 0; i < g.queries; ++i) {
    const std::size_t pair = i * g.tokens;
    zero(dread, g.width * g.heads);
    for (std::size_t head = 0; head < g.heads; head += kHeadLanes)
      in_parts(g.head_width, ReadValuesBack{g.read + i * g.width * g.heads, g.value, d.dz + i * d.dz_stride, g.width,
                                            g.head_width * g.heads, g.heads, head, dread, d.dvalue});
    to_heads<false>(g.e + pair * g.width, g.tokens, g.width, dread, g.heads, d.dweights + pair * g.heads);
    add_from_heads(g.weights + pair * g.heads, g.tokens, dread, g.width, g.heads, d.scratch, d.de + pair * g.width);
  }
}

void pair_features(const float* scores, const float* softmax, std::size_t pairs, std::size_t heads, float* features) {
  const FewHeads tag;
  const HeadVec share = hn::Set(tag, static_cast<float>(1 / kPairBound)), one = hn::Set(tag, 1.0f),
                factor = hn::Set(tag, static_cast<float>(kPairWeight));
  for (std::size_t p = 0; p < pairs; ++p)
    for (std::size_t h = 0; h < heads; h += kHeadLanes) {
      const HeadVec s = hn::LoadU(tag, scores + p * heads + h);
      float* to = features + 2 * p * heads + h;
      hn::StoreU(hn::Div(s, hn::MulAdd(hn::Abs(s), share, one)), tag, to);
      hn::StoreU(hn::Mul(hn::LoadU(tag, softmax + p * heads + h), factor), tag, to + heads);
    }
}

void pair_features_gradient(const float* scores, const float* dfeatures, std::size_t pairs, std::size_t heads,
                            float* dscores, float* dsoftmax) {
  const FewHeads tag;
  const HeadVec share = hn::Set(tag, static_cast<float>(1 / kPairBound)), one = hn::Set(tag, 1.0f),
                factor = hn::Set(tag, static_cast<float>(kPairWeight));
  for (std::size_t p = 0; p < pairs; ++p)
    for (std::size_t h = 0; h < heads; h += kHeadLanes) {
      const HeadVec divisor = hn::MulAdd(hn::Abs(hn::LoadU(tag, scores + p * heads + h)), share, one);
      const float* from = dfeatures + 2 * p * heads + h;
      hn::StoreU(hn::Div(hn::LoadU(tag, from), hn::Mul(divisor, divisor)), tag, dscores + p * heads + h);
      hn::StoreU(hn::Mul(hn::LoadU(tag, from + heads), factor), tag, dsoftmax + p * heads + h);
    }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
