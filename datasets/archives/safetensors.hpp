// Weights as safetensors: an 8-byte header length, a JSON header and raw little-endian tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace molgraph {

enum class DType : std::uint8_t { f64, f32, i64, i32, u8 };
std::size_t size_of(DType dtype);

/// A tensor to write; row-major, not owned.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;
};

/// A tensor that was read; owns its bytes.
struct StoredTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  std::int64_t count() const;
};

struct SafetensorsFile {
  std::map<std::string, std::string> metadata;  ///< __metadata__ of the header without the checksum
  std::map<std::string, StoredTensor> tensors;  ///< sorted by name
};

/// Writes deterministic bytes. Header entries are sorted by name. The data start at a multiple of 8 bytes. They are
/// contiguous, as the format requires, with tensors of wide elements first (then by name), so that each tensor is
/// aligned. In metadata, each byte that is not valid UTF-8 becomes U+FFFD. "molgraph.checksum" is added: "xxh3-64:" and
/// 16 hex digits, the XXH3-64 of all bytes after the header. Writing is atomic (temporary name, flush, rename).
void write_safetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                       const std::vector<TensorView>& tensors);
/// Checks lengths, offsets, overlaps, gaps, duplicate names, dtypes and shapes before use, and the checksum if there is
/// one. Throws FileError.
SafetensorsFile read_safetensors(const std::string& path);

}  // namespace molgraph
