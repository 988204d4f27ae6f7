// UTF-8 and Windows-1252.
#include "datasets/tables/encoding.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

bool is_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

TEST(Encoding, RecognisesUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("Aktivit\xC3\xA4t \xE2\x82\xAC \xF0\x9F\x92\xA7 and plenty of ASCII behind it"));
  EXPECT_TRUE(is_utf8(std::string("a\0b", 3)));
  EXPECT_TRUE(is_utf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"));
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xC3"}) {
    EXPECT_EQ(valid_utf8_prefix(std::string("12345678") + bad + "x"), 8u) << bad;
    EXPECT_EQ(valid_utf8_prefix(bad), 0u);
  }
}

TEST(Encoding, OtherBytesAreWindows1252) {
  EXPECT_EQ(as_utf8("Aktivit\xE4t"), "Aktivit\xC3\xA4t");
  EXPECT_EQ(as_utf8("\xB5M \x80 \x96"), "\xC2\xB5M \xE2\x82\xAC \xE2\x80\x93");
  EXPECT_EQ(as_utf8("\xFF\x81"), "\xC3\xBF\xC2\x81");
  EXPECT_EQ(as_utf8("Gr\xC3\xB6\xDF"
                    "e"),
            "Gr\xC3\xB6\xC3\x9F"
            "e")
      << "valid UTF-8 is unchanged";
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_TRUE(is_utf8(as_utf8(all)));
  EXPECT_EQ(as_utf8(as_utf8(all)), as_utf8(all));
}

TEST(Encoding, HeadsEndBetweenCharacters) {
  const std::string text = "a\xC3\xA4\xE2\x82\xAC";
  const std::string expected[] = {"", "a", "a", "a\xC3\xA4", "a\xC3\xA4", "a\xC3\xA4", text, text};
  for (std::size_t most = 0; most < std::size(expected); ++most)
    EXPECT_EQ(utf8_head(text, most), expected[most]) << most;
}

TEST(Encoding, MessagesContainNoControlCharacters) {
  EXPECT_EQ(shown_head(std::string("a\0b\n\x1B[2J\xC2\x9B\x7F\xC3\xA4", 13), 100), "a b  [2J  \xC3\xA4");
  EXPECT_EQ(shown_head("abcdef", 3), "abc");
}

}  // namespace
}  // namespace molgraph
