// Vectors r_ij of pairs (spec/pair_vector.hpp; by default random walks) inside the attention: each column weights a
// table row. Layout (head-innermost) and terms are those of attention_steps-inl.hpp.
#if defined(MOLGRAPH_CPU_WALKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_WALKS_INL
#undef MOLGRAPH_CPU_WALKS_INL
#else
#define MOLGRAPH_CPU_WALKS_INL
#endif

#include "attention/cpu/kernels/attention_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

// out[j] += sum over U steps of coefficient * r_j, the contribution of a row's walks to (or from) every other token.
// Coefficients are [steps, kLanes], walks in the layout of arrange_walks(), out [others, kLanes].
template <class P, int U>
HWY_INLINE void add_walks(const float* coefficients, const float* HWY_RESTRICT walks, std::size_t steps,
                          std::size_t count, float* HWY_RESTRICT out) {
  const Tag tag;
  Vec factor[U];
#pragma GCC unroll 10
  for (int u = 0; u < U; ++u) factor[u] = P::interleaved(hn::LoadU(tag, coefficients + u * kLanes));
  for (std::size_t j = 0; j < count; ++j) {
    const float* r = walks + j * steps * P::kRows;
    Vec a = hn::Zero(tag), b = hn::Zero(tag);
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) {
      if (u % 2 == 0) a = hn::MulAdd(factor[u], P::scalars(r + u * P::kRows), a);
      else b = hn::MulAdd(factor[u], P::scalars(r + u * P::kRows), b);
    }
    hn::StoreU(hn::Add(hn::LoadU(tag, out + j * kLanes), P::deinterleaved(hn::Add(a, b))), tag, out + j * kLanes);
  }
}

// sums[step] = sum over j of weight_j * r_j, U steps; sums are [steps, kLanes]. Consecutive weights of a row are
// `weight_stride` apart.
template <class P, int U>
HWY_INLINE void sum_walks(const float* weight0, const float* weight1, std::size_t weight_stride,
                          const float* HWY_RESTRICT walks, std::size_t steps, std::size_t count, float* sums) {
  const Tag tag;
  Vec sum[U];
#pragma GCC unroll 10
  for (int u = 0; u < U; ++u) sum[u] = hn::Zero(tag);
  for (std::size_t j = 0; j < count; ++j) {
    const Vec weight = P::interleaved(P::load(weight0 + j * weight_stride, weight1 + j * weight_stride));
    const float* r = walks + j * steps * P::kRows;
#pragma GCC unroll 10
    for (int u = 0; u < U; ++u) sum[u] = hn::MulAdd(weight, P::scalars(r + u * P::kRows), sum[u]);
  }
#pragma GCC unroll 10
  for (int u = 0; u < U; ++u) hn::StoreU(P::deinterleaved(sum[u]), tag, sums + u * kLanes);
}

template <class P>
struct AddWalks {
  const float *coefficients, *walks;
  std::size_t steps, count;
  float* out;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    add_walks<P, U>(coefficients + first * kLanes, walks + first * P::kRows, steps, count, out);
  }
};

template <class P>
struct SumWalks {
  const float *weight0, *weight1;
  std::size_t weight_stride;
  const float* walks;
  std::size_t steps, count;
  float* sums;
  template <int U>
  HWY_NOINLINE void run(std::size_t first) const {
    sum_walks<P, U>(weight0, weight1, weight_stride, walks + first * P::kRows, steps, count, sums + first * kLanes);
  }
};

// The walks of the current rows, by query or by key.
template <class P>
HWY_INLINE const float* walks_of(const float* walks, const Attention& g, const RowPair& r) {
  return walks + r.first * g.tokens * g.steps;
}

// Number of tokens that a step processes at once.
HWY_INLINE std::size_t rows_at_once([[maybe_unused]] std::size_t heads) {
#if HWY_TARGET <= HWY_AVX3
  if (heads == kLanes / 2) return TwoRows::kRows;
#endif
  return OneRow::kRows;
}

std::size_t walk_floats(std::size_t tokens, std::size_t heads, std::size_t steps) {
  const std::size_t rows = rows_at_once(heads);
  return (tokens + rows - 1) / rows * rows * tokens * steps;
}

// Interleaves the rows that a step processes at once: [groups of rows, n, K, rows]. A single last row is duplicated.
void arrange_walks(const float* walks, std::size_t tokens, std::size_t heads, std::size_t steps, bool by_key,
                   float* out) {
  const std::size_t rows = rows_at_once(heads), row_step = by_key ? tokens : 1, other_step = by_key ? 1 : tokens;
  for (std::size_t first = 0; first < tokens; first += rows)
    for (std::size_t other = 0; other < tokens; ++other)
      for (std::size_t t = 0; t < steps; ++t)
        for (std::size_t r = 0; r < rows; ++r)
          *out++ = walks[(t * tokens * tokens) + other * other_step + std::min(first + r, tokens - 1) * row_step];
}

// Vector of at most eight heads, which divides the padded number of heads.
using FewHeads = hn::CappedTag<float, 8>;

void walk_values(const float* walks, std::size_t tokens, std::size_t heads, std::size_t steps, const float* weight,
                 float* values) {
  const FewHeads tag;
  const std::size_t pairs = tokens * tokens;
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t j = 0; j < tokens; ++j)
      for (std::size_t h = 0; h < heads; h += hn::Lanes(tag)) {
        float* value = values + (i * tokens + j) * heads + h;
        auto even = hn::LoadU(tag, value), odd = hn::Zero(tag);
        for (std::size_t t = 0; t < steps; ++t) {
          const auto r = hn::Set(tag, walks[t * pairs + j * tokens + i]);
          if (t % 2 == 0) even = hn::MulAdd(r, hn::LoadU(tag, weight + t * heads + h), even);
          else odd = hn::MulAdd(r, hn::LoadU(tag, weight + t * heads + h), odd);
        }
        hn::StoreU(hn::Add(even, odd), tag, value);
      }
}

void walk_gradient(const float* walks, std::size_t tokens, std::size_t heads, std::size_t steps, const float* dvalues,
                   float* dweight) {
  const FewHeads tag;
  const std::size_t pairs = tokens * tokens;
  for (std::size_t t = 0; t < steps; ++t)
    for (std::size_t h = 0; h < heads; h += hn::Lanes(tag)) {
      auto even = hn::LoadU(tag, dweight + t * heads + h), odd = hn::Zero(tag);
      for (std::size_t j = 0; j < tokens; ++j)
        for (std::size_t i = 0; i < tokens; ++i) {
          const auto slope = hn::LoadU(tag, dvalues + (i * tokens + j) * heads + h);
          const auto r = hn::Set(tag, walks[t * pairs + j * tokens + i]);
          if (i % 2 == 0) even = hn::MulAdd(r, slope, even);
          else odd = hn::MulAdd(r, slope, odd);
        }
      hn::StoreU(hn::Add(even, odd), tag, dweight + t * heads + h);
    }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
