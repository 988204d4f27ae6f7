// Residual sum and LayerNorm (docs/models/formula.md section 2), row by row. A row has `stride` floats, of which the
// first `width` are real channels.
//     residual_norm: sum [rows, stride] = x + drop(y), normed [rows, stride] = LayerNorm(sum), statistics [rows, 2]
//     norm_gradient: dx [rows, stride] (+)= derivative of normed with respect to sum, times dy; adds to dweight and
//     dbias [stride]
#if defined(MOLGRAPH_CPU_NORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_NORM_INL
#undef MOLGRAPH_CPU_NORM_INL
#else
#define MOLGRAPH_CPU_NORM_INL
#endif

#include <cmath>

#include "attention/cpu/kernels/vectors-inl.hpp"
#include "attention/spec/options.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

struct ResidualNormRow {
  const ResidualNorm g;
  template <std::size_t V>
  HWY_INLINE void run(std::size_t t) const {
    const Tag tag;
    const std::size_t stride = V > 0 ? V * kLanes : g.stride;
    const float per_channel = 1.0f / static_cast<float>(g.width);
    const float *x = g.x + t * stride, *y = g.y == nullptr ? nullptr : g.y + t * stride;
    float* sum = g.sum + t * stride;
    Vec kept[V > 0 ? V : 1];  // the sums, if they fit into registers
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
    const float scale = 1.0f / std::sqrt(hn::GetLane(hn::SumOfLanes(tag, squares)) * per_channel +
                                         static_cast<float>(kLayerNormEpsilon));
    if (g.statistics != nullptr) {
      g.statistics[2 * t] = mean;
      g.statistics[2 * t + 1] = scale;
    }
#pragma GCC unroll 10
    for (std::size_t c = 0; c < stride; c += kLanes) {  // weight and bias are zero beyond the width
      const Vec unit = hn::Mul(hn::Sub(value_at(c), hn::Set(tag, mean)), hn::Set(tag, scale));
      hn::StoreU(hn::MulAdd(unit, hn::LoadU(tag, g.weight + c), hn::LoadU(tag, g.bias + c)), tag,
                 g.normed + t * stride + c);
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

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
