// A results file that grows as OUT.part and gets its name when it is whole; or standard output; plain or gzipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace molgraph {

class OutputFile {
 public:
  /// `path` "-" = standard output. A name that ends with .gz is written as a chain of gzip members, one per write().
  /// A path that exists and is no regular file (/dev/null, a named pipe) is written to directly; a symbolic link is
  /// followed, OUT is the file it leads to. `kept` > 0: goes on behind that many bytes of OUT.part. Throws FileError,
  /// also while another process writes the same OUT.part.
  explicit OutputFile(const std::string& path, std::uint64_t kept = 0);
  /// Removes OUT.part unless finish() or keep_part() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws FileError (full disk ...), ClosedPipe.
  void write(std::string_view bytes);
  /// Bytes of the file so far, gzipped ones where it is.
  std::uint64_t bytes() const { return bytes_; }
  /// What is written so far survives a power failure.
  void flush_to_disk();
  /// Flushes to disk and renames OUT.part to OUT.
  void finish();
  /// Leaves what was written under the name returned; "" when it went to a stream.
  std::string keep_part();

 private:
  std::string path_, part_;  // part_ is empty for streams
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  bool gzip_ = false, whole_ = false, terminal_ = false;
};

/// Whether OutputFile would write to a stream, which cannot be gone on with.
bool is_output_stream(const std::string& path);

/// Lines gathered into blocks. Leaves nothing unless finish() was called.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : file_(path) {}
  void add(std::string_view line);
  /// All lines so far are on the disk, so that finish() can hardly fail.
  void flush();
  void finish();

 private:
  OutputFile file_;
  std::string text_;
};

/// The name without ".gz", in lower case: where suffixes are looked up.
std::string without_gz(const std::string& path);

}  // namespace molgraph
