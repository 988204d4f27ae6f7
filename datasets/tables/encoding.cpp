#include "datasets/tables/encoding.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace molgraph {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

/// Returns the length in bytes of the valid sequence at the start of `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F, too_large = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

/// Code points of Windows-1252 at 0x80 to 0x9f. All other bytes are Latin-1.
constexpr std::array<std::uint16_t, 32> kWindows1252{0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

/// Appends a code point from 0x80 to 0xffff.
void append_utf8(unsigned code, std::string& text) {
  if (code < 0x800) {
    text += static_cast<char>(0xC0u | code >> 6u);
    text += static_cast<char>(0x80u | (code & 0x3Fu));
  } else {
    text += static_cast<char>(0xE0u | code >> 12u);
    text += static_cast<char>(0x80u | (code >> 6u & 0x3Fu));
    text += static_cast<char>(0x80u | (code & 0x3Fu));
  }
}

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
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
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
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && is_continuation(text[max_bytes])) --max_bytes;
  return text.substr(0, max_bytes);
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
