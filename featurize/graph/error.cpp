#include "featurize/graph/error.hpp"

#include <cstddef>

#include "featurize/graph/utf8.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kShownText = 80;

/// Returns one printable line of at most kShownText bytes; never cuts a UTF-8 sequence.
std::string shortened(const std::string& text) {
  const bool cut = text.size() > kShownText;
  std::string shown = text.substr(0, cut ? utf8_cut(text, kShownText - 3) : text.size());
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return cut ? shown + "..." : shown;
}

std::string located(const std::string& file, std::int64_t row, const std::string& message, const std::string& text) {
  std::string line = file;
  if (row > 0) line += (line.empty() ? "row " : ", row ") + std::to_string(row);
  if (!line.empty()) line += ": ";
  line += message;
  if (!text.empty()) line += " (" + shortened(text) + ")";
  return line;
}

}  // namespace

DataError::DataError(const std::string& file, std::int64_t row, const std::string& message, const std::string& text)
    : Error(located(file, row, message, text)) {}

}  // namespace molgraph
