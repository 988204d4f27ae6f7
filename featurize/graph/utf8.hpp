// UTF-8 text (RFC 3629): decoding, encoding and cutting at a character boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace molgraph {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the bytes are not valid UTF-8
};

/// Returns the character that begins at byte `at`, which must exist. Overlong forms, surrogates and codes above
/// U+10FFFF are invalid.
inline Utf8Character utf8_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < bytes) return {};
  std::uint32_t code = first & (0x7Fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xC0u) != 0x80u) return {};
    code = code << 6u | (byte(k) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, bytes};
}

/// Appends a code point.
inline void append_utf8(std::uint32_t code, std::string& text) {
  const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  constexpr std::uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLead[more] | code >> 6 * more);
  for (unsigned k = more; k-- > 0;) text += static_cast<char>(0x80u | (code >> 6 * k & 0x3Fu));
}

/// Returns the largest length of at most `max_bytes` that does not cut a character.
inline std::size_t utf8_cut(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text.size();
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0u) == 0x80u) --max_bytes;
  return max_bytes;
}

}  // namespace molgraph
