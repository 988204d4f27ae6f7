// Documents are in plain English: no phrases that docs/development/writing.md replaces, no long lines.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/structure/source_tree.hpp"

namespace molgraph::structure {
namespace {

const std::string kRoot = MOLGRAPH_SOURCE_DIR;
constexpr std::size_t kMaxColumns = 120;

/// Phrases that are literal translations.
const std::regex kWorstPhrases(
    R"(\b(by heart|as ever|are none|is none|which is said|stands? in (several|the table)|gone on with|)"
    R"(go(es)? on with|nothing (is )?said|says of itself|one behind the other|stands? beside|what it holds of|)"
    R"(soon known|as if nothing had happened|what they became|where nothing else is said)\b)",
    std::regex::icase);

/// Number of characters in a UTF-8 line.
std::size_t columns_of(const std::string& line) {
  std::size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

/// "LINE: problem" for each problem of a Markdown text. Table rows and indented code may be long. Fenced code blocks
/// are not checked.
std::vector<std::string> language_problems(const std::string& markdown) {
  std::vector<std::string> problems;
  std::istringstream text(markdown);
  bool code = false;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.starts_with("```")) {
      code = !code;
      continue;
    }
    if (code) continue;
    std::smatch phrase;
    if (std::regex_search(line, phrase, kWorstPhrases))
      problems.push_back(std::to_string(number) + ": " + phrase.str());
    const std::size_t begin = line.find_first_not_of(' ');
    const bool may_be_long = begin != std::string::npos && (line[begin] == '|' || begin >= 4);
    if (!may_be_long && columns_of(line) > kMaxColumns) problems.push_back(std::to_string(number) + ": long line");
  }
  return problems;
}

TEST(Language, DocumentsUsePlainEnglish) {
  std::vector<std::string> files{"README.md", "CHANGELOG.md"};
  for (const char* folder : {"apps", "attention", "datasets", "docs", "featurize", "graphormer", "grpe", "pretrained",
                             "python", "scripts", "tests"})
    for (const auto& file : files_below(kRoot, folder, {".md"})) files.push_back(file);
  ASSERT_GT(files.size(), 30u);
  for (const auto& file : files) {
    if (file == "docs/development/writing.md") continue;  // it lists the phrases
    for (const auto& problem : language_problems(read_text(kRoot + "/" + file)))
      ADD_FAILURE() << file << ":" << problem << " (docs/development/writing.md)";
  }
}

TEST(Language, DetectsProblems) {
  EXPECT_EQ(language_problems("Plain text.\nThe model knows it by heart.\n```\nas ever\n```\nAs ever, it ends.\n"),
            (std::vector<std::string>{"2: by heart", "6: As ever"}));
  EXPECT_EQ(language_problems(std::string(121, 'a') + "\n| " + std::string(200, 'b') + " |\n" + std::string(120, 'c') +
                              "\n    " + std::string(200, 'd')),
            (std::vector<std::string>{"1: long line"}));
  std::string wide;
  for (int i = 0; i < 120; ++i) wide += "\u00e4";
  EXPECT_EQ(language_problems(wide), std::vector<std::string>());
}

}  // namespace
}  // namespace molgraph::structure
