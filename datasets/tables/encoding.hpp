// Conversion of UTF-8 or Windows-1252 text to UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace molgraph {

/// Returns the number of bytes before the first invalid UTF-8 sequence (overlong forms and surrogates are invalid), or
/// the size of valid text.
std::size_t valid_utf8_prefix(std::string_view text);
/// Returns the text as UTF-8. Valid UTF-8 is unchanged; every other byte is read as Windows-1252, that is, Latin-1 with
/// additional characters at 0x80 to 0x9f. Accepts any bytes: the five that Windows-1252 does not define become the
/// control characters with the same numbers.
std::string as_utf8(std::string text);
/// Returns at most `max_bytes` bytes of valid UTF-8, cut at a character boundary.
std::string utf8_head(const std::string& text, std::size_t max_bytes);
/// Like utf8_head(), for a message: replaces control characters by blanks, so that external text cannot move the
/// terminal's cursor.
std::string shown_head(const std::string& text, std::size_t max_bytes);

}  // namespace molgraph
