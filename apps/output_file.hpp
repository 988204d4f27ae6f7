// A results file that grows as OUT.part and gets its name when it is whole; or standard output; plain or gzipped.
#pragma once

#include <string>
#include <string_view>

namespace molgraph {

class OutputFile {
 public:
  /// `path` "-" = standard output. A name that ends with .gz is written as a chain of gzip members, one per write().
  /// A path that exists and is no regular file (/dev/null, a named pipe) is written to directly. Throws FileError.
  explicit OutputFile(const std::string& path);
  /// Removes OUT.part unless finish() or keep_part() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws FileError (full disk ...), ClosedPipe.
  void write(std::string_view bytes);
  /// Flushes to disk and renames OUT.part to OUT.
  void finish();
  /// Leaves what was written under the name returned; "" when it went to a stream.
  std::string keep_part();

 private:
  std::string path_, part_;  // part_ is empty for streams
  int descriptor_ = -1;
  bool gzip_ = false, whole_ = false;
};

/// The name without ".gz", in lower case: where suffixes are looked up.
std::string without_gz(const std::string& path);

}  // namespace molgraph
