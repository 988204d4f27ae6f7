// Code shared by all kernels: the widest vector of the instruction set (up to kBlock floats), e^x, and masks for lanes
// that are dropped or beyond the real width. kernels.cpp includes this file once per instruction set, hence the unusual
// include guard.
#if defined(MOLGRAPH_CPU_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_VECTORS_INL
#undef MOLGRAPH_CPU_VECTORS_INL
#else
#define MOLGRAPH_CPU_VECTORS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attention/cpu/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, kBlock>;
using Vec = hn::Vec<Tag>;
inline constexpr std::size_t kLanes = hn::MaxLanes(Tag());
inline constexpr int kVectorsPerBlock = static_cast<int>(kBlock / kLanes);

// e^x with a relative error of 1e-7 for x in [-87, 88]; x is clamped to this range. Computed as 2^n times a polynomial
// in the remainder (two-step range reduction of Cody & Waite; Taylor coefficients, |remainder| <= ln(2)/2).
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

// x times keep.scale if the bit of the lane in [lane, lane + kLanes) is set, else zero. `bits` starts at channel 0 of
// the row.
HWY_INLINE Vec keep_lanes(Vec x, const Keep& keep, const std::uint8_t* bits, std::size_t lane) {
  const Tag tag;
  const Vec scaled = hn::Mul(x, hn::Set(tag, keep.scale));
  if constexpr (kLanes >= 8) return hn::IfThenElseZero(hn::LoadMaskBits(tag, bits + lane / 8), scaled);
  const std::uint8_t part[8] = {static_cast<std::uint8_t>(bits[lane / 8] >> (lane % 8))};
  return hn::IfThenElseZero(hn::LoadMaskBits(tag, part), scaled);
}

// x, with lanes beyond the real width set to zero.
HWY_INLINE Vec real_lanes(Vec x, std::size_t lane, std::size_t width) {
  const Tag tag;
  if (lane + kLanes <= width) return x;
  return hn::IfThenElseZero(hn::FirstN(tag, lane < width ? width - lane : 0), x);
}

// Calls Row::run<V>(t) for all rows t. V is the number of vectors per row if the row fits into registers, else 0.
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

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
