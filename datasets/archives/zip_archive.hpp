// Zip archives (libzip): reads uncompressed members into memory and extracts all kinds of members to files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// An open archive. Every error is a FileError that names the file.
class ZipArchive {
 public:
  explicit ZipArchive(const std::string& path);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  const std::vector<std::string>& names() const;
  bool has(const std::string& name) const;
  /// Returns the size of a member in bytes, as declared in its header.
  std::uint64_t size(const std::string& name) const;
  /// Returns the member's bytes. Rejects compressed and encrypted members, wrong checksums, and sizes above the file's
  /// own, so that memory is limited by the file.
  std::vector<std::byte> read(const std::string& name) const;
  /// Extracts a member, compressed or not, to a file. Writing is atomic.
  void extract(const std::string& name, const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ZipMember {
  std::string name;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Writes an archive atomically. Equal members give equal bytes.
void write_zip(const std::string& path, const std::vector<ZipMember>& members);

}  // namespace molgraph
