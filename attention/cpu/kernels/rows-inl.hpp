// What happens to rows of channels between the products: LayerNorm, residual sums, GELU, dropout.
#if defined(MOLGRAPH_CPU_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_ROWS_INL
#undef MOLGRAPH_CPU_ROWS_INL
#else
#define MOLGRAPH_CPU_ROWS_INL
#endif

#include <cmath>
#include <cstring>
#include <type_traits>

#include "attention/cpu/kernels/gemm-inl.hpp"
#include "attention/spec/options.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

// e^x to 1e-7 relative for x in [-87, 88], below as at -87: 2^n times a polynomial in the rest (range reduction in two
// steps after Cody & Waite; Taylor's coefficients, |rest| <= ln(2)/2).
HWY_INLINE Vec exponential(Vec x) {
  const Tag tag;
  const hn::RebindToSigned<Tag> integers;
  x = hn::Min(hn::Max(x, hn::Set(tag, -87.0f)), hn::Set(tag, 88.0f));
  const Vec n = hn::Round(hn::Mul(x, hn::Set(tag, 1.44269504f)));
  Vec r = hn::NegMulAdd(n, hn::Set(tag, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(tag, -2.12194440e-4f), r);
  Vec p = hn::Set(tag, 1.0f / 5040);
  p = hn::MulAdd(p, r, hn::Set(tag, 1.0f / 720));
  p = hn::MulAdd(p, r, hn::Set(tag, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(tag, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(tag, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(tag, 0.5f));
  p = hn::MulAdd(p, r, hn::Set(tag, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(tag, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(integers, n), hn::Set(integers, 127)));
  return hn::Mul(p, hn::BitCast(tag, exponent));
}

// `x` where the bits of lanes [lane, lane + kLanes) are set, times `scale`, else zero. `bits` starts at channel 0 of the row.
HWY_INLINE Vec keep_lanes(Vec x, const Keep& keep, const std::uint8_t* bits, std::size_t lane) {
  const Tag tag;
  const Vec scaled = hn::Mul(x, hn::Set(tag, keep.scale));
  if constexpr (kLanes >= 8) return hn::IfThenElseZero(hn::LoadMaskBits(tag, bits + lane / 8), scaled);
  const std::uint8_t part[8] = {static_cast<std::uint8_t>(bits[lane / 8] >> (lane % 8))};
  return hn::IfThenElseZero(hn::LoadMaskBits(tag, part), scaled);
}

// Zero beyond the real width.
HWY_INLINE Vec real_lanes(Vec x, std::size_t lane, std::size_t width) {
  const Tag tag;
  if (lane + kLanes <= width) return x;
  return hn::IfThenElseZero(hn::FirstN(tag, lane < width ? width - lane : 0), x);
}

// Calls Row::run<V>(t) for all rows t, V vectors each: known when compiled for rows that fit into registers, else 0.
template <class Row>
HWY_INLINE void for_each_row(std::size_t rows, std::size_t stride, const Row& row) {
  const auto all = [&](auto vectors) {
    for (std::size_t t = 0; t < rows; ++t) row.template run<decltype(vectors)::value>(t);
  };
  switch (stride / kLanes) {
    case 1: return all(std::integral_constant<std::size_t, 1>());
    case 2: return all(std::integral_constant<std::size_t, 2>());
    case 4: return all(std::integral_constant<std::size_t, 4>());
    case 5: return all(std::integral_constant<std::size_t, 5>());
    case 8: return all(std::integral_constant<std::size_t, 8>());
    case 10: return all(std::integral_constant<std::size_t, 10>());
    default: return all(std::integral_constant<std::size_t, 0>());
  }
}

struct ResidualNormRow {
  const ResidualNorm g;
  template <std::size_t V>
  HWY_INLINE void run(std::size_t t) const {
    const Tag tag;
    const std::size_t stride = V > 0 ? V * kLanes : g.stride;
    const float per_channel = 1.0f / static_cast<float>(g.width);
    const float *x = g.x + t * stride, *y = g.y == nullptr ? nullptr : g.y + t * stride;
    float* sum = g.sum + t * stride;
    Vec kept[V > 0 ? V : 1];   // the sums, where they fit into registers
    Vec total = hn::Zero(tag);
#pragma GCC unroll 10
    for (std::size_t c = 0; c < stride; c += kLanes) {
      Vec value = hn::LoadU(tag, x + c);
      if (y != nullptr) {
        Vec branch = hn::LoadU(tag, y + c);
        if (g.keep.bits != nullptr) branch = keep_lanes(branch, g.keep, g.keep.bits + t * stride / 8, c);
        value = hn::Add(value, branch);
      }
      hn::StoreU(value, tag, sum + c);
      if constexpr (V > 0) kept[c / kLanes] = value;
      total = hn::Add(total, value);
    }
    if (g.normed == nullptr) return;
    const auto value_at = [&](std::size_t c) {
      if constexpr (V > 0) return kept[c / kLanes];
      else return hn::LoadU(tag, sum + c);
    };
    const float mean = hn::GetLane(hn::SumOfLanes(tag, total)) * per_channel;
    Vec squares = hn::Zero(tag);
#pragma GCC unroll 10
    for (std::size_t c = 0; c < stride; c += kLanes) {
      const Vec delta = real_lanes(hn::Sub(value_at(c), hn::Set(tag, mean)), c, g.width);
      squares = hn::MulAdd(delta, delta, squares);
    }
    const float scale = 1.0f / std::sqrt(hn::GetLane(hn::SumOfLanes(tag, squares)) * per_channel + static_cast<float>(kLayerNormEpsilon));
    if (g.statistics != nullptr) {
      g.statistics[2 * t] = mean;
      g.statistics[2 * t + 1] = scale;
    }
#pragma GCC unroll 10
    for (std::size_t c = 0; c < stride; c += kLanes) {   // weight and bias are zero beyond the width
      const Vec unit = hn::Mul(hn::Sub(value_at(c), hn::Set(tag, mean)), hn::Set(tag, scale));
      hn::StoreU(hn::MulAdd(unit, hn::LoadU(tag, g.weight + c), hn::LoadU(tag, g.bias + c)), tag, g.normed + t * stride + c);
    }
  }
};

void residual_norm(const ResidualNorm& g) { for_each_row(g.rows, g.stride, ResidualNormRow{g}); }

struct NormGradientRow {
  const NormGradient g;
  template <std::size_t V>
  HWY_INLINE void run(std::size_t t) const {
    const Tag tag;
    const std::size_t stride = V > 0 ? V * kLanes : g.stride;
    const float per_channel = 1.0f / static_cast<float>(g.width);
    const float *sum = g.sum + t * stride, *dy = g.dy + t * stride;
    float* dx = g.dx + t * stride;
    const Vec mean = hn::Set(tag, g.statistics[2 * t]), scale = hn::Set(tag, g.statistics[2 * t + 1]);
    Vec units[V > 0 ? V : 1], slopes[V > 0 ? V : 1];
    Vec total = hn::Zero(tag), product = hn::Zero(tag);
#pragma GCC unroll 10
    for (std::size_t c = 0; c < stride; c += kLanes) {
      const Vec unit = hn::Mul(hn::Sub(hn::LoadU(tag, sum + c), mean), scale);
      const Vec slope = hn::LoadU(tag, dy + c);
      hn::StoreU(hn::MulAdd(slope, unit, hn::LoadU(tag, g.dweight + c)), tag, g.dweight + c);
      hn::StoreU(hn::Add(slope, hn::LoadU(tag, g.dbias + c)), tag, g.dbias + c);
      const Vec weighted = hn::Mul(slope, hn::LoadU(tag, g.weight + c));
      if constexpr (V > 0) {
        units[c / kLanes] = unit;
        slopes[c / kLanes] = weighted;
      }
      total = hn::Add(total, weighted);
      product = hn::MulAdd(weighted, unit, product);
    }
    const Vec mean_slope = hn::Set(tag, hn::GetLane(hn::SumOfLanes(tag, total)) * per_channel);
    const Vec mean_product = hn::Set(tag, hn::GetLane(hn::SumOfLanes(tag, product)) * per_channel);
#pragma GCC unroll 10
    for (std::size_t c = 0; c < stride; c += kLanes) {
      Vec unit, weighted;
      if constexpr (V > 0) {
        unit = units[c / kLanes];
        weighted = slopes[c / kLanes];
      } else {
        unit = hn::Mul(hn::Sub(hn::LoadU(tag, sum + c), mean), scale);
        weighted = hn::Mul(hn::LoadU(tag, dy + c), hn::LoadU(tag, g.weight + c));
      }
      Vec out = hn::Mul(scale, hn::NegMulAdd(unit, mean_product, hn::Sub(weighted, mean_slope)));
      out = real_lanes(out, c, g.width);
      if (g.accumulate) out = hn::Add(out, hn::LoadU(tag, dx + c));
      hn::StoreU(out, tag, dx + c);
    }
  }
};

void norm_gradient(const NormGradient& g) { for_each_row(g.rows, g.stride, NormGradientRow{g}); }

// GELU(x) = x Phi(x) and its derivative Phi(x) + x phi(x). Phi by the rational approximation 7.1.26 of Abramowitz & Stegun:
// its error of 1.5e-7 is that of float32 itself.
void gelu(float* x, float* slope, std::size_t rows, std::size_t stride, const Keep& keep) {
  const Tag tag;
  const Vec one = hn::Set(tag, 1.0f), half = hn::Set(tag, 0.5f);
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t c = 0; c < stride; c += kLanes) {
      const Vec v = hn::LoadU(tag, x + t * stride + c);
      const Vec a = hn::Mul(hn::Abs(v), hn::Set(tag, 0.70710678f));
      const Vec gauss = exponential(hn::Neg(hn::Mul(a, a)));
      const Vec u = hn::Div(one, hn::MulAdd(a, hn::Set(tag, 0.3275911f), one));
      Vec p = hn::Set(tag, 1.061405429f);
      p = hn::MulAdd(p, u, hn::Set(tag, -1.453152027f));
      p = hn::MulAdd(p, u, hn::Set(tag, 1.421413741f));
      p = hn::MulAdd(p, u, hn::Set(tag, -0.284496736f));
      p = hn::MulAdd(p, u, hn::Set(tag, 0.254829592f));
      const Vec erf = hn::CopySignToAbs(hn::NegMulAdd(hn::Mul(p, u), gauss, one), v);
      const Vec phi = hn::MulAdd(half, erf, half);
      Vec y = hn::Mul(v, phi);
      if (keep.bits != nullptr) y = keep_lanes(y, keep, keep.bits + t * stride / 8, c);
      hn::StoreU(y, tag, x + t * stride + c);
      if (slope == nullptr) continue;
      Vec d = hn::MulAdd(hn::Mul(v, hn::Set(tag, 0.39894228f)), gauss, phi);
      if (keep.bits != nullptr) d = keep_lanes(d, keep, keep.bits + t * stride / 8, c);
      hn::StoreU(d, tag, slope + t * stride + c);
    }
  }
}

void multiply(const float* factor, float* x, std::size_t count) {
  const Tag tag;
  for (std::size_t c = 0; c < count; c += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(tag, factor + c), hn::LoadU(tag, x + c)), tag, x + c);
}

void add(const float* y, float* x, std::size_t count) {
  const Tag tag;
  for (std::size_t c = 0; c < count; c += kLanes)
    hn::StoreU(hn::Add(hn::LoadU(tag, y + c), hn::LoadU(tag, x + c)), tag, x + c);
}

void drop(const float* x, float* out, std::size_t rows, std::size_t stride, const Keep& keep) {
  const Tag tag;
  for (std::size_t t = 0; t < rows; ++t)
    for (std::size_t c = 0; c < stride; c += kLanes)
      hn::StoreU(keep_lanes(hn::LoadU(tag, x + t * stride + c), keep, keep.bits + t * stride / 8, c), tag,
                 out + t * stride + c);
}

void column_sums(const float* y, std::size_t rows, std::size_t stride, std::size_t columns, float* sums) {
  const Tag tag;
  for (std::size_t c = 0; c < columns; c += kLanes) {
    Vec sum = hn::LoadU(tag, sums + c);
    for (std::size_t t = 0; t < rows; ++t) sum = hn::Add(sum, hn::LoadU(tag, y + t * stride + c));
    hn::StoreU(sum, tag, sums + c);
  }
}

void channel_bits(const std::uint16_t* draws, std::uint32_t threshold, std::size_t rows, std::size_t width,
                  std::size_t stride, std::uint8_t* bits) {
  for (std::size_t t = 0; t < rows; ++t) {
    const std::uint16_t* row = draws + t * width;
    for (std::size_t c = 0; c < stride; c += 8) {
      std::uint32_t byte = 0;
      const std::size_t count = c < width ? std::min<std::size_t>(8, width - c) : 0;
      for (std::size_t b = 0; b < count; ++b) byte |= static_cast<std::uint32_t>(row[c + b] >= threshold) << b;
      *bits++ = static_cast<std::uint8_t>(byte);
    }
  }
}

void head_bits(const std::uint16_t* draws, std::uint32_t threshold, std::size_t heads, std::size_t pairs,
               std::uint8_t* bits) {
  const std::size_t bytes = padded_heads(heads) / 8;
  const auto limit = static_cast<std::uint16_t>(threshold);   // dropping everything is no option: p < 1
  std::uint8_t* HWY_RESTRICT out = bits;
  std::memset(out, 0, pairs * bytes);
  for (std::size_t h = 0; h < heads; ++h) {
    const std::uint16_t* HWY_RESTRICT of_head = draws + h * pairs;
    const auto bit = static_cast<std::uint8_t>(1u << (h % 8));
    std::uint8_t* HWY_RESTRICT byte = out + h / 8;
    if (bytes == 1) {
      for (std::size_t p = 0; p < pairs; ++p)
        byte[p] = static_cast<std::uint8_t>(byte[p] | (of_head[p] >= limit ? bit : 0));
    } else {
      for (std::size_t p = 0; p < pairs; ++p)
        byte[p * bytes] = static_cast<std::uint8_t>(byte[p * bytes] | (of_head[p] >= limit ? bit : 0));
    }
  }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
