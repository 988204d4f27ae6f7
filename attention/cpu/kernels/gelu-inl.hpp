// GELU with its derivative, followed by dropout: x, slope [rows, stride].
#if defined(MOLGRAPH_CPU_GELU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_GELU_INL
#undef MOLGRAPH_CPU_GELU_INL
#else
#define MOLGRAPH_CPU_GELU_INL
#endif

#include "attention/cpu/kernels/vectors-inl.hpp"
#include "attention/spec/scalar.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

// GELU(x) = x Phi(x) and its derivative Phi(x) + x phi(x). Phi is the rational approximation 7.1.26 of Abramowitz &
// Stegun, whose error of 1.5e-7 is about the rounding error of float32.
void gelu(float* x, float* slope, std::size_t rows, std::size_t stride, const Keep& keep) {
  const Tag tag;
  const Vec one = hn::Set(tag, 1.0f), half = hn::Set(tag, 0.5f);
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t c = 0; c < stride; c += kLanes) {
      const Vec v = hn::LoadU(tag, x + t * stride + c);
      const Vec a = hn::Mul(hn::Abs(v), hn::Set(tag, static_cast<float>(kRootHalf)));
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
      Vec d = hn::MulAdd(hn::Mul(v, hn::Set(tag, static_cast<float>(kInverseRootTwoPi))), gauss, phi);
      if (keep.bits != nullptr) d = keep_lanes(d, keep, keep.bits + t * stride / 8, c);
      hn::StoreU(d, tag, slope + t * stride + c);
    }
  }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
