#include "graphormer/attention/random.hpp"

#include <cassert>
#include <cmath>
#include <cstring>

#include "featurize/philox.hpp"

// The lanes below are plain loops that the compiler vectorises; on x86 it does so once per instruction set and the
// loader chooses. The arithmetic is on integers, so all versions give the same numbers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MOLGRAPH_SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MOLGRAPH_SIMD_CLONES
#endif

namespace molgraph {
namespace {

constexpr int kLanes = 16;                  // Philox blocks side by side
constexpr int kDrawsPerBlock = 8;
constexpr int kChunk = kLanes * kDrawsPerBlock;

// Draws of blocks first .. first + kLanes - 1; `out` [kChunk].
MOLGRAPH_SIMD_CLONES
void draw_chunk(const RandomStream& stream, std::uint32_t first, std::uint16_t* out) {
  const std::uint32_t key[2] = {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32)};
  const std::uint32_t site = 16 * stream.layer + static_cast<std::uint32_t>(stream.site) + (stream.ascent << 20);
  std::uint32_t words[4][kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t counter[4] = {stream.step, stream.row, site, first + static_cast<std::uint32_t>(lane)};
    std::uint32_t block[4];
    philox4x32_10(block, counter, key);
    for (int w = 0; w < 4; ++w) words[w][lane] = block[w];
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int w = 0; w < 4; ++w) {
      out[kDrawsPerBlock * lane + 2 * w] = static_cast<std::uint16_t>(words[w][lane]);
      out[kDrawsPerBlock * lane + 2 * w + 1] = static_cast<std::uint16_t>(words[w][lane] >> 16);
    }
}

}  // namespace

void random_draws(const RandomStream& stream, std::int64_t count, std::uint16_t* out) {
  std::uint32_t block = 0;
  std::int64_t done = 0;
  for (; done + kChunk <= count; done += kChunk, block += kLanes) draw_chunk(stream, block, out + done);
  if (done < count) {
    std::uint16_t rest[kChunk];
    draw_chunk(stream, block, rest);
    std::memcpy(out + done, rest, static_cast<std::size_t>(count - done) * sizeof(std::uint16_t));
  }
}

std::uint32_t dropout_threshold(double p) {
  assert(p >= 0 && p < 1);
  return static_cast<std::uint32_t>(std::lround(65536.0 * p));
}

double dropout_scale(std::uint32_t threshold) {
  assert(threshold < 65536);
  return 1.0 / (1.0 - threshold / 65536.0);
}

}  // namespace molgraph
