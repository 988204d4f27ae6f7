#include "datasets/tables/spool.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/table_lines.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line, static_cast<std::int64_t>(lines.size()));) {
    strip_carriage_return(line);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

Spool::Spool() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  folder_ = error ? "/tmp" : folder.string();
  std::string name = folder_ + "/molgraph-input-XXXXXX";
  file_ = ::mkstemp(name.data());
  if (file_ < 0)
    throw FileError("cannot create a temporary file in " + folder_ + " for the input: " + std::strerror(errno));
  ::unlink(name.c_str());
}

Spool::~Spool() { ::close(file_); }

void Spool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw FileError("cannot write the temporary copy of the input to " + folder_ + ": " + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string Spool::path() const { return "/proc/self/fd/" + std::to_string(file_); }

bool is_stream(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  using std::filesystem::file_type;
  return path == "-" || type == file_type::fifo || type == file_type::socket || type == file_type::character;
}

void copy_stream(const std::string& path, Spool& spool, const ReadingHooks& hooks) {
  ByteStream input(path, {}, hooks);
  std::vector<char> buffer(std::size_t{1} << 20);
  while (const std::size_t count = input.read(buffer.data(), buffer.size())) spool.write({buffer.data(), count});
}

void copy_picked_lines(const std::string& list, const std::string& index, Spool& spool) {
  const std::vector<std::string> lines = read_lines(list);
  std::string text;
  for (const std::string& row : read_lines(index)) {
    for (std::size_t at = 0; (at = row.find_first_not_of(", \t", at)) != std::string::npos;) {
      const std::size_t end = std::min(row.find_first_of(", \t", at), row.size());
      const std::string word = row.substr(at, end - at);
      const auto number = number_of_cell(word);
      if (!number || *number < 0 || *number >= static_cast<double>(lines.size()) ||
          word.find_first_not_of("0123456789") != std::string::npos)
        throw DataError(index, 0,
                        "not the 0-based number of one of the " + std::to_string(lines.size()) + " lines of " + list,
                        word);
      text += lines[static_cast<std::size_t>(*number)] + '\n';
      at = end;
    }
  }
  spool.write(text);
}

}  // namespace molgraph
