// Encoding and decoding of one HDF5 chunk without the HDF5 library and its global lock. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

/// zlib level of stores. Measured on ZINC-12k with pairs, on one core: level 4 332 bytes and 15 us per molecule, level
/// 6 294 bytes and 50 us, level 1 400 bytes and 10 us.
inline constexpr int kDeflateLevel = 4;

/// Applies HDF5's filters to a chunk in this order: shuffle (not for elements of one byte), deflate, Fletcher32.
std::vector<std::byte> encode_chunk(std::span<const std::byte> raw, std::size_t element_bytes);

/// Decodes into `raw`, which has the size of the chunk. Returns false if the checksum, the deflate stream or the size
/// is wrong.
bool decode_chunk(std::span<const std::byte> packed, std::size_t element_bytes, std::span<std::byte> raw);

/// Returns the maximum size of an encoded chunk of `raw_bytes`.
std::size_t max_encoded_bytes(std::size_t raw_bytes);

/// Returns Fletcher's sums of 16-bit big-endian words modulo 65,535 in HDF5's form: a sum that is a multiple of 65,535
/// but not 0 is written as 65,535; an odd last byte is the high byte of a word.
std::uint32_t fletcher32(std::span<const std::byte> data);

}  // namespace molgraph
