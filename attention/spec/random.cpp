#include "attention/spec/random.hpp"

#include <cstring>

// Highway compiles this file for every instruction set. The arithmetic uses integers only, so all versions give the
// same numbers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/spec/random.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "featurize/graph/philox.hpp"

#ifndef MOLGRAPH_RANDOM_CONSTANTS
#define MOLGRAPH_RANDOM_CONSTANTS
namespace molgraph {
inline constexpr int kDrawLanes = 16;  // Philox blocks computed together
inline constexpr int kDrawChunk = 8 * kDrawLanes;
}  // namespace molgraph
#endif

HWY_BEFORE_NAMESPACE();
namespace molgraph::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Draws of blocks first .. first + kDrawLanes - 1; `out` [kDrawChunk].
void draw_chunk(const std::uint32_t* key, const std::uint32_t* counter, std::uint32_t first, std::uint16_t* out) {
  for (std::uint32_t lane = 0; lane < kDrawLanes; ++lane) {
    const std::uint32_t of_lane[4] = {counter[0], counter[1], counter[2], first + lane};
    std::uint32_t words[4];
    philox4x32_10(words, of_lane, key);
    for (int w = 0; w < 4; ++w) {
      *out++ = static_cast<std::uint16_t>(words[w]);
      *out++ = static_cast<std::uint16_t>(words[w] >> 16);
    }
  }
}

#else

using Words = hn::CappedTag<std::uint32_t, kDrawLanes>;
using Word = hn::Vec<Words>;

// High and low halves of the 64-bit products of all lanes.
HWY_INLINE void multiply(Word a, Word b, Word& high, Word& low) {
  const Words tag;
  const hn::Repartition<std::uint64_t, Words> wide;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(tag, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
  low = hn::OddEven(hn::BitCast(tag, hn::ShiftLeft<32>(odd)), hn::BitCast(tag, even));
  high = hn::OddEven(hn::BitCast(tag, odd), hn::BitCast(tag, hn::ShiftRight<32>(even)));
}

// philox4x32_10 of Lanes(tag) blocks at a time.
void draw_chunk(const std::uint32_t* key, const std::uint32_t* counter, std::uint32_t first, std::uint16_t* out) {
  const Words tag;
  const Word m0 = hn::Set(tag, 0xD2511F53u), m1 = hn::Set(tag, 0xCD9E8D57u);
  for (std::size_t lane = 0; lane < kDrawLanes; lane += hn::Lanes(tag)) {
    Word c0 = hn::Set(tag, counter[0]), c1 = hn::Set(tag, counter[1]), c2 = hn::Set(tag, counter[2]);
    Word c3 = hn::Iota(tag, first + static_cast<std::uint32_t>(lane));
    std::uint32_t k0 = key[0], k1 = key[1];
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      Word high0, low0, high1, low1;
      multiply(c0, m0, high0, low0);
      multiply(c2, m1, high1, low1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(tag, k0));
      c1 = low1;
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(tag, k1));
      c3 = low0;
    }
    std::uint32_t words[4 * kDrawLanes];
    hn::StoreInterleaved4(c0, c1, c2, c3, tag, words);
    std::memcpy(out + 8 * lane, words, 16 * hn::Lanes(tag));  // the low half of a word comes first
  }
}

#endif

}  // namespace molgraph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace molgraph {
namespace {

HWY_EXPORT(draw_chunk);

// The caller stores the result, because Highway queries the processor at each first call.
auto best_draw_chunk() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return &HWY_DYNAMIC_DISPATCH(draw_chunk);
}

}  // namespace

void random_draws(const RandomStream& stream, std::int64_t count, std::uint16_t* out) {
  static const auto draw = best_draw_chunk();
  const DrawKey key = draw_key(stream.seed, stream.step, stream.ascent);
  std::uint32_t counter[4];
  draw_counter(key, stream.row, draw_place(stream.layer, stream.site), 0, counter);
  std::uint32_t block = 0;
  std::int64_t done = 0;
  for (; done + kDrawChunk <= count; done += kDrawChunk, block += kDrawLanes)
    draw(key.seed, counter, block, out + done);
  if (done < count) {
    std::uint16_t rest[kDrawChunk];
    draw(key.seed, counter, block, rest);
    std::memcpy(out + done, rest, static_cast<std::size_t>(count - done) * sizeof(std::uint16_t));
  }
}

}  // namespace molgraph
#endif
