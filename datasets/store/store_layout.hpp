// Shared by the writer and the reader of the store: the header in the user block, names, and RAII handles for HDF5.
// Private to this folder; only this header includes HDF5.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/system/files.hpp"

namespace molgraph::store_layout {

// --- user block: checked before the HDF5 library opens the file ---

inline constexpr std::size_t kUserBlock = 512;  ///< bytes before the HDF5 content
inline constexpr std::uint32_t kFormatVersion = 1;
/// As in PNG: the first byte is not text, CR LF and LF reveal transfers that change line ends, 0x1A stops `type`.
inline constexpr std::string_view kMagic{"\x89MOLGRAPH\r\n\x1a\n\0\0\0", 16};

/// Bytes 0..15 magic, 16..19 format version, 20..23 size of this block, 24..31 length of the file, 32..39 XXH3-64 of
/// everything after the block, 64..127 a readable line, 504..511 XXH3-64 of bytes 0..503; the rest is zero.
/// Computes the checksum of the finished file after the user block and writes the block.
void write_user_block(File& file);
/// Checks magic, version, length and both checksums, and returns the length of the file. Throws FileError.
std::uint64_t check_user_block(File& file);

// --- HDF5 ---

/// Admits one thread at a time to the HDF5 library, however it was built, and disables its error output meanwhile.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t old_function_ = nullptr;
  void* old_data_ = nullptr;
};

/// An HDF5 identifier of any kind, released with the object.
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  hid_t release() { return std::exchange(id_, -1); }
  void reset();

 private:
  hid_t id_ = -1;
};

/// Returns the handle. Throws FileError "PATH: WHAT" if the call that created it failed.
Handle checked(hid_t id, const std::string& path, const std::string& what);
/// Checks a call that returns a status.
void check(herr_t status, const std::string& path, const std::string& what);
/// Checks a call that writes, and adds the system's error if there is one.
void check_written(herr_t status, const std::string& path, const std::string& what);

/// Types of numbers in a store; all are little-endian.
enum class Element : std::uint8_t { u8, i8, u16, i64, f32, f64 };
std::size_t bytes_of(Element element);
/// Returns HDF5's type, a constant of the library that must not be released.
hid_t type_of(Element element);

/// Returns file access without locking (some network file systems do not support it) that closes every object with the
/// file.
Handle file_access(const std::string& path);

// --- names ---

inline constexpr const char* kPairsGroup = "pairs";    ///< absent in stores without pairs
inline constexpr const char* kInputsGroup = "inputs";  ///< absent in stores without descriptors and measured columns
/// Maximum size of one decoded chunk: what a reader allocates before it has read any content.
inline constexpr std::int64_t kMaxSourceRows = 1'000'000'000'000;
inline constexpr std::size_t kMaxChunkBytes = std::size_t{64} << 20u;
/// Texts are stored as bytes in NAME and start positions in NAME_offset [count + 1].
inline constexpr const char* kOffsetSuffix = "_offset";
inline constexpr const char* kParts[] = {"train", "valid", "test"};

}  // namespace molgraph::store_layout
