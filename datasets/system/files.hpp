// File helpers: atomic writes, temporary files and hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace molgraph {

/// True for a temporary name of AtomicFile or write_file_atomically(), NAME.part.PROCESS.NUMBER, if no process with
/// that number is running on this machine.
bool is_orphaned_temporary(std::string_view name);

/// Writes the whole text to a temporary file in the folder of `path`, flushes it to disk and renames it. Throws
/// FileError.
void write_file_atomically(const std::string& path, std::string_view content);
/// Returns the whole content. Throws FileError.
std::string read_file(const std::string& path);
/// Returns the SHA-256 of a file, 64 hex digits. Throws FileError.
std::string sha256_of_file(const std::string& path);

/// Follows the symbolic links of `path` and returns the final target, whether or not it exists; `path` itself if it is
/// not a link. Throws FileError for circular links.
std::string linked_file(const std::string& path);
/// Returns the file that a write to `path` replaces: linked_file(). Throws FileError if it exists and is not a regular
/// file.
std::string replaced_file(const std::string& path);

/// An open file, closed with the object. Every failure is a FileError that names the file.
class File {
 public:
  /// Opens an existing regular file read-only.
  static File open(const std::string& path);
  /// Opens an unnamed file for reading and writing in the folder of `path`. It disappears with the process.
  static File open_unnamed_near(const std::string& path);

  ~File();
  File(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const void* data, std::size_t bytes);  ///< at the file's position
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  std::size_t read(void* data, std::size_t bytes);  ///< returns fewer bytes only at the end of the file
  std::size_t read_at(std::uint64_t offset, void* data, std::size_t bytes);  ///< does not change the position
  void rewind();
  std::uint64_t size() const;
  void flush_to_disk();  ///< fsync
  void close();          ///< reports late write errors
  const std::string& path() const { return path_; }

 private:
  friend class AtomicFile;
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_ = -1;
  std::string path_;
};

/// A file that appears under its name only when it is complete. It is written under a temporary name in the same
/// folder, which is removed if the object is destroyed before commit(). Only regular files are replaced (not /dev/null
/// or a folder). For a symbolic link, the file that it points to is replaced.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  File& file() { return file_; }
  /// For libraries that open files by name.
  const std::string& temporary_path() const { return temporary_; }
  /// Flushes file and folder to disk and renames the file.
  void commit();

 private:
  std::string target_, temporary_;
  File file_;
  bool committed_ = false;
};

}  // namespace molgraph
