// The bytes of one HDF5 chunk, made and read without the HDF5 library and its global lock. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

/// zlib's level in stores. Measured on ZINC-12k with pairs, one core: level 4 332 bytes and 15 us per molecule, level 6
/// 294 bytes and 50 us, level 1 400 bytes and 10 us.
inline constexpr int kDeflateLevel = 4;

/// What HDF5's filters shuffle (left out for elements of one byte), deflate, Fletcher32 make of a chunk, in that order.
std::vector<std::byte> encode_chunk(std::span<const std::byte> raw, std::size_t element_bytes);

/// Inverse into `raw`, whose size is the chunk's. False if the checksum, the deflate stream or the size is wrong.
bool decode_chunk(std::span<const std::byte> packed, std::size_t element_bytes, std::span<std::byte> raw);

/// No encoded chunk of `raw_bytes` is larger than this.
std::size_t most_encoded_bytes(std::size_t raw_bytes);

/// Fletcher's sums of 16-bit big-endian words modulo 65,535 in HDF5's form: a sum that is a multiple of 65,535 but not
/// 0 is written as 65,535; an odd last byte counts as the high byte of a word.
std::uint32_t fletcher32(std::span<const std::byte> data);

}  // namespace molgraph
