#include "datasets/store/chunk_codec.hpp"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace molgraph {
namespace {

constexpr std::size_t kChecksumBytes = 4;

/// Writes all first bytes of the elements, then all second bytes, and so on.
void shuffle_bytes(std::span<const std::byte> from, std::size_t element_bytes, std::span<std::byte> to) {
  const std::size_t elements = from.size() / element_bytes;
  for (std::size_t b = 0; b < element_bytes; ++b) {
    for (std::size_t i = 0; i < elements; ++i) to[b * elements + i] = from[i * element_bytes + b];
  }
}

void unshuffle_bytes(std::span<const std::byte> from, std::size_t element_bytes, std::span<std::byte> to) {
  const std::size_t elements = from.size() / element_bytes;
  for (std::size_t b = 0; b < element_bytes; ++b) {
    for (std::size_t i = 0; i < elements; ++i) to[i * element_bytes + b] = from[b * elements + i];
  }
}

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> data) {
  constexpr std::uint64_t modulus = 65535;
  constexpr std::size_t words_per_fold = 1 << 20;  // the second sum stays below 2^57
  const auto fold = [](std::uint64_t sum) { return sum == 0 ? 0 : (sum - 1) % modulus + 1; };
  std::uint64_t first = 0, second = 0;
  const std::size_t words = data.size() / 2;
  for (std::size_t begin = 0; begin < words; begin += words_per_fold) {
    const std::size_t end = std::min(words, begin + words_per_fold);
    for (std::size_t w = begin; w < end; ++w) {
      first += std::to_integer<std::uint64_t>(data[2 * w]) << 8u | std::to_integer<std::uint64_t>(data[2 * w + 1]);
      second += first;
    }
    first = fold(first);
    second = fold(second);
  }
  if (data.size() % 2 == 1) {
    first = fold(first + (std::to_integer<std::uint64_t>(data.back()) << 8u));
    second = fold(second + first);
  }
  return static_cast<std::uint32_t>(second << 16u | first);
}

std::size_t max_encoded_bytes(std::size_t raw_bytes) {
  return compressBound(static_cast<uLong>(raw_bytes)) + kChecksumBytes;
}

std::vector<std::byte> encode_chunk(std::span<const std::byte> raw, std::size_t element_bytes) {
  assert(raw.size() % element_bytes == 0);
  std::vector<std::byte> shuffled;
  if (element_bytes > 1) {
    shuffled.resize(raw.size());
    shuffle_bytes(raw, element_bytes, shuffled);
    raw = shuffled;
  }
  std::vector<std::byte> packed(max_encoded_bytes(raw.size()));
  auto length = static_cast<uLongf>(packed.size() - kChecksumBytes);
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &length, reinterpret_cast<const Bytef*>(raw.data()),
                static_cast<uLong>(raw.size()), kDeflateLevel);
  if (status != Z_OK) throw std::bad_alloc();  // the only possible failure with a buffer of compressBound's size
  const std::uint32_t checksum = fletcher32({packed.data(), length});
  for (std::size_t b = 0; b < kChecksumBytes; ++b)
    packed[length + b] = static_cast<std::byte>(checksum >> 8 * b & 0xFFu);
  packed.resize(length + kChecksumBytes);
  return packed;
}

bool decode_chunk(std::span<const std::byte> packed, std::size_t element_bytes, std::span<std::byte> raw) {
  if (packed.size() <= kChecksumBytes || raw.size() % element_bytes != 0) return false;
  const auto deflated = packed.first(packed.size() - kChecksumBytes);
  std::uint32_t stored = 0;
  for (std::size_t b = 0; b < kChecksumBytes; ++b) {
    stored |= std::to_integer<std::uint32_t>(packed[deflated.size() + b]) << 8 * b;
  }
  if (stored != fletcher32(deflated)) return false;
  std::vector<std::byte> shuffled(element_bytes > 1 ? raw.size() : 0);
  std::byte* to = element_bytes > 1 ? shuffled.data() : raw.data();
  auto length = static_cast<uLongf>(raw.size());
  const int status = uncompress(reinterpret_cast<Bytef*>(to), &length, reinterpret_cast<const Bytef*>(deflated.data()),
                                static_cast<uLong>(deflated.size()));
  if (status != Z_OK || length != raw.size()) return false;
  if (element_bytes > 1) unshuffle_bytes(shuffled, element_bytes, raw);
  return true;
}

}  // namespace molgraph
