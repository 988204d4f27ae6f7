// A temporary file without a name, for text that can be read only once or has to be put in another order.
#pragma once

#include <string>
#include <string_view>

#include "datasets/tables/reading_hooks.hpp"

namespace molgraph {

/// Nothing is left behind, however the program ends. Throws FileError when the disk is full or there is no place for
/// it.
class Spool {
 public:
  Spool();
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void write(std::string_view bytes);
  /// A name under which this process can open it, any number of times.
  std::string path() const;

 private:
  int file_ = -1;
  std::string folder_;
};

/// Standard input, a pipe, a socket: what can be read only once.
bool is_stream(const std::string& path);
/// Appends everything a stream gives (gzip unpacked).
void copy_stream(const std::string& path, Spool& spool, const ReadingHooks& hooks = {});
/// Appends the lines of `list` whose 0-based numbers stand in `index` (separated by commas, blanks or line ends), in
/// the order of the index. Throws DataError for a number that is none or lies outside the list.
void copy_picked_lines(const std::string& list, const std::string& index, Spool& spool);

}  // namespace molgraph
