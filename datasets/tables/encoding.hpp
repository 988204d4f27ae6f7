// Text that comes in as UTF-8 or as Windows-1252, and goes on as UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace molgraph {

/// Bytes before the first that is no valid UTF-8 (overlong forms and surrogates are none); all of them for valid text.
std::size_t valid_utf8_prefix(std::string_view text);
/// Valid UTF-8 as it is; every byte that is none is read as Windows-1252: Latin-1, with the signs that Excel writes at
/// 0x80 to 0x9f. Any bytes will do; the five that Windows-1252 leaves open become the control characters of the same
/// numbers.
std::string as_utf8(std::string text);
/// At most `most` bytes of valid UTF-8, without half a character at the end.
std::string utf8_head(const std::string& text, std::size_t most);
/// The same for a message: control characters become blanks, so that no text from outside moves the terminal's cursor.
std::string shown_head(const std::string& text, std::size_t most);

}  // namespace molgraph
