// Weights as safetensors: an 8-byte header length, a JSON header, then raw little-endian tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace molgraph {

enum class DType : std::uint8_t { f64, f32, i64, i32, u8 };
std::size_t size_of(DType dtype);

/// A tensor to be written; row-major, borrowed.
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
  std::map<std::string, std::string> metadata;  ///< the header's __metadata__ without the checksum
  std::map<std::string, StoredTensor> tensors;  ///< sorted by name
};

/// Deterministic bytes. Header entries are sorted by name. The data starts at a multiple of 8 bytes and follows without
/// gaps, as the format demands, tensors of wide elements first (then by name), so that each is aligned to its element.
/// Metadata that is not UTF-8 gets U+FFFD for each bad byte; "molgraph.checksum" is added: "xxh3-64:" and 16 hex
/// digits, the XXH3-64 of all bytes behind the header. Atomic (temporary name, flush, rename).
void write_safetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                       const std::vector<TensorView>& tensors);
/// Checks lengths, offsets, overlaps, gaps, doubled names, dtypes and shapes before use, and the checksum if there is
/// one. Throws FileError.
SafetensorsFile read_safetensors(const std::string& path);

}  // namespace molgraph
