#include "featurize/graph/utf8.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

// The first and last code of each length, and the neighbours of the surrogates.
TEST(Utf8, DecodesWhatItEncodes) {
  for (const std::uint32_t code :
       {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text = "x";
    append_utf8(code, text);
    const Utf8Character decoded = utf8_at(text, 1);
    EXPECT_EQ(decoded.code, code);
    EXPECT_EQ(decoded.bytes, text.size() - 1) << code;
  }
  EXPECT_EQ(utf8_at("\xE2\x82\xAC", 0).code, 0x20ACu);  // the euro sign
}

TEST(Utf8, RejectsInvalidBytes) {
  for (const std::string text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xE2\x82",
                                 "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
    EXPECT_EQ(utf8_at(text, 0).bytes, 0u) << text;
}

TEST(Utf8, CutsAtCharacterBoundaries) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC";  // 1 + 2 + 3 bytes
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6};
  for (std::size_t bytes = 0; bytes < 8; ++bytes) EXPECT_EQ(utf8_cut(text, bytes), expected[bytes]) << bytes;
}

}  // namespace
}  // namespace molgraph
