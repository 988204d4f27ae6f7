// Zip archives (libzip): members that are stored as they are, in memory, and any others into files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// An open archive. Every complaint is a FileError that names the file.
class ZipArchive {
 public:
  explicit ZipArchive(const std::string& path);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  const std::vector<std::string>& names() const;
  bool has(const std::string& name) const;
  /// Bytes of a member, as its header declares.
  std::uint64_t size(const std::string& name) const;
  /// The member's bytes. Refuses compressed and encrypted members, wrong checksums, and sizes above the file's own: so
  /// memory is bounded by the file.
  std::vector<std::byte> read(const std::string& name) const;
  /// Unpacks a member, compressed or not, into a file, atomically.
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

/// Writes an archive, atomically and with equal bytes for equal members.
void write_zip(const std::string& path, const std::vector<ZipMember>& members);

}  // namespace molgraph
