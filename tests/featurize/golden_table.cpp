#include "tests/featurize/golden_table.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace molgraph::test {

std::string golden_file(const char* variable, const std::string& name) {
  const char* folder = std::getenv(variable);
  if (folder == nullptr || *folder == '\0') return {};
  const std::string path = std::string(folder) + "/" + name;
  return std::filesystem::exists(path) ? path : std::string();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<std::vector<std::string>> golden_rows(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // also reads uncompressed files
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::string text;
  char chunk[1 << 16];
  int count = 0;
  while ((count = gzread(file, chunk, sizeof chunk)) > 0) text.append(chunk, static_cast<std::size_t>(count));
  gzclose(file);
  if (count < 0) throw std::runtime_error("cannot read " + path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line : split(text, '\n')) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) rows.push_back(split(line, ','));
  }
  if (rows.empty()) throw std::runtime_error(path + " is empty");
  rows.erase(rows.begin());
  return rows;
}

}  // namespace molgraph::test
