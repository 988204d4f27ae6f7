#include "datasets/tables/encoding.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "featurize/graph/utf8.hpp"

namespace molgraph {
namespace {

/// Code points of Windows-1252 at 0x80 to 0x9f. All other bytes are Latin-1.
constexpr std::array<std::uint16_t, 32> kWindows1252{0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080u;
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t chunk = kHighBits;
    if (text.size() - at >= sizeof chunk) std::memcpy(&chunk, text.data() + at, sizeof chunk);
    if ((chunk & kHighBits) == 0) {  // most text is ASCII: eight bytes at a time
      at += sizeof chunk;
      continue;
    }
    const std::size_t bytes = utf8_at(text, at).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return at;
}

std::string as_utf8(std::string text) {
  std::size_t valid = valid_utf8_prefix(text);
  if (valid == text.size()) return text;
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  for (std::string_view left = text; true; valid = valid_utf8_prefix(left)) {
    result += left.substr(0, valid);
    left.remove_prefix(valid);
    if (left.empty()) return result;
    const unsigned byte = static_cast<unsigned char>(left.front());
    append_utf8(byte < 0xA0 ? kWindows1252[byte - 0x80] : byte, result);
    left.remove_prefix(1);
  }
}

std::string utf8_head(const std::string& text, std::size_t max_bytes) {
  return text.substr(0, utf8_cut(text, max_bytes));
}

std::string shown_head(const std::string& text, std::size_t max_bytes) {
  std::string shown = utf8_head(text, max_bytes);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    if (byte < 0x20 || byte == 0x7F) shown[i] = ' ';
    // U+0080 to U+009F, two bytes each
    if (byte == 0xC2 && i + 1 < shown.size() && static_cast<unsigned char>(shown[i + 1]) < 0xA0)
      shown.replace(i, 2, " ");
  }
  return shown;
}

}  // namespace molgraph
