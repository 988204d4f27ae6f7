// The commands in the README and in docs/ exist: programs, their flags, the commands of ./bootstrap.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <sstream>

#include "tests/structure/source_tree.hpp"

namespace molgraph::structure {
namespace {

const std::string kRoot = MOLGRAPH_SOURCE_DIR;

/// Lines of the ``` blocks of a Markdown text. A line that ends in \ is joined with the next one. Comments are removed.
std::vector<std::string> code_lines(const std::string& markdown) {
  std::vector<std::string> lines;
  std::istringstream text(markdown);
  bool inside = false, joined = false;
  for (std::string line; std::getline(text, line);) {
    if (line.find("```") != std::string::npos) {
      inside = !inside;
      joined = false;
    } else if (inside) {
      line = line.substr(0, std::min(line.find(" #"), line.size()));
      const bool goes_on = line.ends_with("\\");
      if (goes_on) line.pop_back();
      if (joined) lines.back() += " " + line;
      else lines.push_back(line);
      joined = goes_on;
    }
  }
  return lines;
}

/// A program and its arguments.
struct Call {
  std::string program;             ///< "molgraph-train", "bootstrap"
  std::vector<std::string> words;  ///< the arguments up to the end of the command
};

/// The calls of molgraph's programs in a shell command line.
std::vector<Call> calls_in(const std::string& line) {
  static const std::regex ours(R"((?:^|/)(molgraph-[a-z]+|bootstrap)$)");
  std::vector<Call> calls;
  std::istringstream text(line);
  bool open = false;
  for (std::string word; text >> word;) {
    std::smatch match;
    if (word == "|" || word == "&&" || word == ";" || word == "||") {
      open = false;
    } else if (open) {
      calls.back().words.push_back(word);
    } else if (std::regex_search(word, match, ours)) {
      calls.push_back({match[1], {}});
      open = true;
    }
  }
  return calls;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::array<char, 4096> part{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  while (pipe && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) text += part.data();
  return text;
}

/// The problem of a call, or "".
std::string problem_of(const Call& call, const std::map<std::string, std::string>& help) {
  const auto found = help.find(call.program);
  if (found == help.end()) return "there is no program " + call.program;
  for (const auto& word : call.words) {
    const bool checked = call.program == "bootstrap" || word.starts_with("--");
    const std::string name = word.substr(0, word.find('='));
    if (checked && !std::regex_search(found->second, std::regex("(^|[^a-z0-9-])" + name + "([^a-z0-9-]|$)"))) {
      return call.program + " has no " + name;
    }
  }
  return "";
}

TEST(Readme, CommandsExist) {
  std::map<std::string, std::string> help{{"bootstrap", output_of("'" + kRoot + "/bootstrap' help")}};
  for (const auto& target : read_targets(MOLGRAPH_TARGETS_FILE)) {
    if (target.file.empty()) continue;
    help[target.name] = output_of("'" + target.file + "' --help-all 2>/dev/null");
    if (help[target.name].empty()) help[target.name] = output_of("'" + target.file + "' --help");
  }
  ASSERT_GE(help.size(), 2u);
  for (const auto& [program, text] : help) EXPECT_FALSE(text.empty()) << program << " prints no help";
  std::vector<std::string> files{"README.md"};
  if (std::filesystem::exists(kRoot + "/docs")) {
    for (const auto& file : files_below(kRoot, "docs", {".md"})) files.push_back(file);
  }
  std::size_t calls = 0;
  for (const auto& file : files) {
    for (const auto& line : code_lines(read_text(kRoot + "/" + file))) {
      for (const auto& call : calls_in(line)) {
        ++calls;
        EXPECT_EQ(problem_of(call, help), "") << file << ": " << line;
      }
    }
  }
  EXPECT_GE(calls, 2u) << "the README shows no command";
}

TEST(Readme, DetectsWrongCommands) {
  const std::map<std::string, std::string> help{{"molgraph-train", "  -o,--output-dir DIR\n  --epochs N\n"},
                                                {"bootstrap", "./bootstrap demo   show\n"}};
  const auto lines = code_lines(
      "text molgraph-no\n```sh\n./bootstrap demo   # shows\nzcat a.gz | molgraph-train x \\\n"
      "  --epochs=3 --epoch 4\nmolgraph-no\n./bootstrap dem\n```\n");
  ASSERT_EQ(lines.size(), 4u);
  std::vector<std::string> wrong;
  for (const auto& line : lines) {
    for (const auto& call : calls_in(line)) wrong.push_back(problem_of(call, help));
  }
  EXPECT_EQ(wrong, (std::vector<std::string>{"", "molgraph-train has no --epoch", "there is no program molgraph-no",
                                             "bootstrap has no dem"}));
}

}  // namespace
}  // namespace molgraph::structure
