// An unnamed temporary file, for text that can be read only once or must be reordered.
#pragma once

#include <string>
#include <string_view>

#include "datasets/tables/reading_hooks.hpp"

namespace molgraph {

/// Leaves no file, however the program ends. Throws FileError if the disk is full or the file cannot be created.
class Spool {
 public:
  Spool();
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void write(std::string_view bytes);
  /// Returns a path under which this process can open the file any number of times.
  std::string path() const;

 private:
  int file_ = -1;
  std::string folder_;
};

/// True for input that can be read only once: standard input, a pipe, a socket.
bool is_stream(const std::string& path);
/// Appends the complete content of a stream (gzip decompressed).
void copy_stream(const std::string& path, Spool& spool, const ReadingHooks& hooks = {});
/// Appends the lines of `list` whose 0-based numbers `index` contains (separated by commas, blanks or line ends), in
/// the order of the index. Throws DataError for text that is not a number and for numbers outside the list.
void copy_picked_lines(const std::string& list, const std::string& index, Spool& spool);

}  // namespace molgraph
