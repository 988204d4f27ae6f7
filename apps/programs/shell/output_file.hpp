// An output file, plain or gzipped, that is written as OUT.part and renamed when complete; or standard output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace molgraph {

class OutputFile {
 public:
  /// `path` "-" = standard output. If the name ends with .gz, each write() appends one gzip member. An existing path
  /// that is not a regular file (/dev/null, a named pipe) is written directly. A symbolic link is followed; OUT is its
  /// target. `kept` > 0: appends after that many bytes of OUT.part. Throws FileError, also if another process is
  /// writing the same OUT.part.
  explicit OutputFile(const std::string& path, std::uint64_t kept = 0);
  /// Deletes OUT.part unless finish() or keep_part() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws FileError (for example, if the disk is full) and ClosedPipe.
  void write(std::string_view bytes);
  /// Current size of the file in bytes, after compression.
  std::uint64_t bytes() const { return bytes_; }
  /// Flushes the data to disk, so that they survive a power failure.
  void flush_to_disk();
  /// Flushes to disk and renames OUT.part to OUT.
  void finish();
  /// Keeps OUT.part and returns its name; "" for a stream.
  std::string keep_part();

 private:
  std::string path_, part_;  // part_ is empty for streams
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  bool gzip_ = false, finished_ = false, terminal_ = false;
};

/// Whether `path` is a stream for OutputFile. Output to a stream cannot be resumed.
bool is_output_stream(const std::string& path);

/// Writes lines in blocks. Leaves no file unless finish() was called.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : file_(path) {}
  void add(std::string_view line);
  /// Writes all lines to disk, so that finish() is unlikely to fail.
  void flush();
  void finish();

 private:
  OutputFile file_;
  std::string text_;
};

/// The name in lower case and without ".gz", for comparisons of suffixes.
std::string without_gz(const std::string& path);

}  // namespace molgraph
