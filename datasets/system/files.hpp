// Small file helpers: atomic writes, spill files and hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace molgraph {

/// True for a name that AtomicFile or write_file_atomically() writes under first, NAME.part.PROCESS.NUMBER, where no
/// process of that number is running on this machine.
bool is_left_behind(std::string_view name);

/// Writes the whole text to a temporary name beside `path`, flushes it to disk and renames. Throws FileError.
void write_file_atomically(const std::string& path, std::string_view content);
/// The whole file. Throws FileError.
std::string read_file(const std::string& path);
/// SHA-256 of a file, 64 hex digits. Throws FileError.
std::string sha256_of_file(const std::string& path);

/// Where the symbolic links of `path` lead in the end, whether or not that file is there; `path` itself if it is no
/// link. Throws FileError where they lead nowhere (a circle).
std::string linked_file(const std::string& path);
/// The file that a write to `path` replaces: linked_file(). Throws FileError if what is there is no regular file.
std::string replaced_file(const std::string& path);

/// An open file, closed with the object; every failure is a FileError that names the file.
class File {
 public:
  /// Opens an existing regular file read-only.
  static File open(const std::string& path);
  /// A file for reading and writing in the folder of `path` that has no name: it vanishes with the process.
  static File unnamed_beside(const std::string& path);

  ~File();
  File(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const void* data, std::size_t bytes);  ///< at the file's position
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  std::size_t read(void* data, std::size_t bytes);                           ///< fewer only at the end of the file
  std::size_t read_at(std::uint64_t offset, void* data, std::size_t bytes);  ///< leaves the position alone
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

/// A file that appears under its name whole or not at all: written under a temporary name beside it, which is removed
/// if the object goes away before commit(). Never replaces what is not a regular file (/dev/null, a folder); through a
/// symbolic link it replaces the file the link points to.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  File& file() { return file_; }
  /// For libraries that open files by name themselves.
  const std::string& temporary_path() const { return temporary_; }
  /// Flushes file and folder to disk and renames.
  void commit();

 private:
  std::string target_, temporary_;
  File file_;
  bool committed_ = false;
};

}  // namespace molgraph
