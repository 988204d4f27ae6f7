// Everything that comments, READMEs and documents cite exists: files, folders, links, and sections of docs/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/structure/source_tree.hpp"

namespace molgraph::structure {
namespace {

const std::string kRoot = MOLGRAPH_SOURCE_DIR;
const std::vector<std::string> kFolders{"apps",       "attention", "cmake",      "datasets", "docs",    "featurize",
                                        "graphormer", "grpe",      "pretrained", "python",   "scripts", "tests"};

/// The files, folders and headings that can be cited.
struct Tree {
  std::set<std::string> files;  ///< relative to the root
  std::set<std::string> folders;
  std::map<std::string, std::vector<std::string>> by_name;   ///< "model.hpp" -> its paths
  std::map<std::string, std::vector<std::string>> headings;  ///< of each Markdown file, without #

  void add(const std::string& file, const std::string& text) {
    files.insert(file);
    by_name[file.substr(file.rfind('/') + 1)].push_back(file);
    for (auto cut = file.rfind('/'); cut != std::string::npos; cut = file.rfind('/', cut - 1)) {
      folders.insert(file.substr(0, cut));
      if (cut == 0) break;
    }
    if (!file.ends_with(".md")) return;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("#")) headings[file].push_back(line.substr(line.find_first_not_of("# ")));
  }
  bool has(const std::string& path) const { return files.contains(path) || folders.contains(path); }
  /// True if a file name starts with this stem: "attention/cpu/weights" means weights.hpp and weights.cpp.
  bool begins(const std::string& stem) const {
    const auto next = files.lower_bound(stem + ".");
    return next != files.end() && next->starts_with(stem + ".");
  }
  /// True if a file's path ends with this: "spec/terms.hpp" means attention/spec/terms.hpp.
  bool ends(const std::string& path) const {
    const auto found = by_name.find(path.substr(path.rfind('/') + 1));
    return found != by_name.end() && std::any_of(found->second.begin(), found->second.end(),
                                                 [&](const std::string& file) { return file.ends_with("/" + path); });
  }
  /// True if the folder or a subfolder contains a file of this name. "" is the root.
  bool below(const std::string& folder, const std::string& name) const {
    const auto found = by_name.find(name);
    if (found == by_name.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const std::string& file) { return folder.empty() || file.starts_with(folder + "/"); });
  }
};

std::string folder_of(const std::string& file) {
  const auto cut = file.rfind('/');
  return cut == std::string::npos ? "" : file.substr(0, cut);
}

/// The text of a file: Markdown unchanged; of code, the comments only, each as one line.
std::string prose_of(const std::string& file, const std::string& text) {
  if (file.ends_with(".md")) return text;
  const bool hash = file.ends_with(".txt") || file.ends_with(".cmake") || file.ends_with(".py");
  static const std::regex slashes(R"((?:^|[ \t;{}),])///?<?[ \t]?(.*)$)"), hashes(R"((?:^|[ \t])#[ \t]?(.*)$)");
  std::string prose;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    const bool comment = std::regex_search(line, match, hash ? hashes : slashes);
    prose += comment ? match[1].str() + " " : "\n";  // joins comments of several lines
  }
  return prose;
}

/// GitHub's anchor of a heading: "Several processes" -> "several-processes".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char letter : heading) {
    const auto c = static_cast<unsigned char>(letter);
    if (std::isalnum(c) != 0 || letter == '_' || letter == '-') anchor += static_cast<char>(std::tolower(c));
    else if (letter == ' ') anchor += '-';
  }
  return anchor;
}

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

/// Checks [text](target#anchor) in a Markdown file.
void check_links(const std::string& file, const std::string& prose, const Tree& tree, std::vector<std::string>& wrong) {
  static const std::regex link(R"(\]\(([^)\s#]*)(?:#([^)\s]*))?\))");
  for (const std::smatch& match : matches(prose, link)) {
    const std::string target = match[1], anchor = match[2];
    if (target.find("://") != std::string::npos) continue;
    const std::string path =
        target.empty() ? file : (std::filesystem::path(folder_of(file)) / target).lexically_normal().generic_string();
    const auto headings = tree.headings.find(path);
    if (!tree.has(path)) {
      wrong.push_back("a link to " + target);
    } else if (!anchor.empty()) {
      const bool found = headings != tree.headings.end() &&
                         std::any_of(headings->second.begin(), headings->second.end(),
                                     [&](const std::string& heading) { return anchor_of(heading) == anchor; });
      if (!found) wrong.push_back("a link to " + target + "#" + anchor);
    }
  }
}

/// Checks paths: "attention/cpu/weights.cpp", "tests/theory", "attention/cpu/weights" relative to the root, in a README
/// also relative to its folder; shortened paths such as "cpu/weights.cpp".
void check_paths(const std::string& file, const std::string& prose, const Tree& tree, std::vector<std::string>& wrong) {
  const std::string own = file.ends_with("/README.md") ? folder_of(file) + "/" : "";
  static const std::regex path(
      R"((?:^|[^\w/.<-])((?:apps|attention|cmake|datasets|docs|featurize|graphormer|grpe|python|scripts|tests)/[\w./*-]*\w\*?))");
  for (const std::smatch& match : matches(prose, path)) {
    const std::string cited = match[1];
    if (cited.find('*') != std::string::npos) {
      const std::string stem = cited.substr(0, cited.find('*'));
      const auto next = tree.files.lower_bound(stem);
      if (next == tree.files.end() || !next->starts_with(stem)) wrong.push_back(cited);
    } else if (!tree.has(cited) && !tree.begins(cited) && !tree.has(own + cited)) {
      wrong.push_back(cited);
    }
  }
  static const std::regex shortened(R"((?:^|[^\w/.*<-])([\w-]+/[\w./-]*\.(?:hpp|cpp|cuh|cu))(?![\w*]))");
  for (const std::smatch& match : matches(prose, shortened)) {
    const std::string cited = match[1];
    const bool from_root = std::any_of(kFolders.begin(), kFolders.end(),
                                       [&](const std::string& folder) { return cited.starts_with(folder + "/"); });
    const bool placeholder = cited.find("/NAME.") != std::string::npos;
    if (!from_root && !placeholder && !tree.ends(cited)) wrong.push_back(cited);
  }
}

/// Checks file names: "weights.cpp", "published.*". A README may cite files of its folder and its subfolders; other
/// files may cite any file.
void check_names(const std::string& file, const std::string& prose, const Tree& tree, std::vector<std::string>& wrong) {
  static const std::regex name(R"((?:^|[^\w/.*<-])([A-Za-z_][\w-]*)\.(hpp|cpp|cuh|cu|cmake|md|\*)(?![\w.*]))");
  const bool readme = file.ends_with("/README.md");
  const std::string folder = readme ? folder_of(file) : "";
  for (const std::smatch& match : matches(prose, name)) {
    const std::string stem = match[1], suffix = match[2];
    if (stem + "." + suffix == "model_card.md") continue;  // a file of runs
    bool found = false;
    if (suffix == "*") {  // outside READMEs, "encoder.*" means parameters
      found = !readme;
      for (const char* end : {".hpp", ".cpp", ".cuh", ".cu"}) found = found || tree.below(folder, stem + end);
    } else {
      found = tree.below(suffix == "md" ? "" : folder, stem + "." + suffix);
    }
    if (!found) wrong.push_back(stem + "." + suffix);
  }
}

/// Checks sections: "docs/models/formula.md section 3", "data.md, section 2", "programs.md, "Input"".
void check_sections(const std::string& prose, const Tree& tree, std::vector<std::string>& wrong) {
  static const std::regex numbered(R"((\w[\w-]*\.md)\)?,? sections? ((?:\d+(?:, | and )?)+))"),
      named(R"((\w[\w-]*\.md)\)?, "([^"]+)\")");
  static const std::regex number(R"(\d+)");
  const auto any_heading = [&](const std::string& document, const auto& fits) {
    return std::any_of(tree.headings.begin(), tree.headings.end(), [&](const auto& entry) {
      return entry.first.starts_with("docs/") && entry.first.ends_with("/" + document) &&
             std::any_of(entry.second.begin(), entry.second.end(), fits);
    });
  };
  for (const std::smatch& match : matches(prose, numbered)) {
    const std::string document = match[1], list = match[2];
    for (const std::smatch& one : matches(list, number)) {
      const std::string section = one[0];
      if (!any_heading(document, [&](const std::string& heading) { return heading.starts_with(section + ". "); }))
        wrong.push_back(document + " section " + section);
    }
  }
  for (const std::smatch& match : matches(prose, named)) {
    const std::string document = match[1], expected = match[2];
    if (!any_heading(document, [&](const std::string& heading) { return heading == expected; }))
      wrong.push_back(document + ", \"" + expected + "\"");
  }
}

std::vector<std::string> wrong_citations(const std::string& file, const std::string& text, const Tree& tree) {
  std::vector<std::string> wrong;
  const std::string prose = prose_of(file, text);
  if (file.ends_with(".md")) check_links(file, prose, tree, wrong);
  check_paths(file, prose, tree, wrong);
  check_names(file, prose, tree, wrong);
  check_sections(prose, tree, wrong);
  return wrong;
}

std::map<std::string, std::string> read_tree() {
  std::map<std::string, std::string> texts;
  for (const std::string& folder : kFolders)
    for (const std::string& file : files_below(kRoot, folder, {""})) texts[file] = read_text(kRoot + "/" + file);
  for (const auto& entry : std::filesystem::directory_iterator(kRoot))
    if (entry.is_regular_file()) texts[entry.path().filename().string()] = read_text(entry.path().string());
  return texts;
}

TEST(Documents, CitationsExist) {
  const std::map<std::string, std::string> texts = read_tree();
  Tree tree;
  for (const auto& [file, text] : texts) tree.add(file, text);
  ASSERT_TRUE(tree.headings.contains("docs/models/formula.md"));
  for (const auto& [file, text] : texts) {
    const std::string suffix = std::filesystem::path(file).extension();
    static const std::set<std::string> read{".hpp", ".cpp", ".cu", ".cuh", ".md", ".cmake"};
    if (!read.contains(suffix) && !file.ends_with("CMakeLists.txt")) continue;
    for (const std::string& cited : wrong_citations(file, text, tree))
      ADD_FAILURE() << file << " cites " << cited << ", which does not exist";
  }
}

TEST(Documents, DetectsWrongCitations) {
  Tree tree;
  tree.add("docs/models/formula.md", "# The formulas\n\n## 1. Tokens, pairs\n\n## Random numbers\n");
  tree.add("attention/cpu/model.hpp", "");
  tree.add("attention/cpu/kernels/kernels.cpp", "");
  tree.add("tests/a-b_test.cpp", "");
  using Wrong = std::vector<std::string>;
  EXPECT_EQ(
      wrong_citations(
          "grpe/a.cpp",
          "int a;   // docs/models/formula.md section 1, attention/cpu/model.hpp, attention/cpu, model.hpp\n", tree),
      Wrong());
  EXPECT_EQ(wrong_citations("grpe/a.cpp",
                            "/// As docs/models/formula.md\n/// section 2 says (attention/cpu/modle.hpp).\n", tree),
            (Wrong{"attention/cpu/modle.hpp", "formula.md section 2"}));
  EXPECT_EQ(
      wrong_citations("grpe/a.cpp", "#include \"attention/gone.hpp\"\nauto url = \"http://docs/none.md\";\n", tree),
      Wrong());
  EXPECT_EQ(
      wrong_citations("grpe/a.cpp",
                      "// formula.md, \"Random numbers\"; formula.md, \"Order\"; gone.cuh; attention/cpu/mod*\n", tree),
      (Wrong{"gone.cuh", "formula.md, \"Order\""}));
  EXPECT_EQ(wrong_citations("attention/cpu/README.md",
                            "`kernels.cpp`, `model.*`, `kernels.*`, `weights.*`, `a-b_test.cpp`", tree),
            (Wrong{"weights.*", "a-b_test.cpp"}));
  EXPECT_EQ(
      wrong_citations("attention/README.md", "`cpu/model.hpp`, attention/cpu/model.hpp, `cpu/kernels/model.hpp`", tree),
      (Wrong{"cpu/kernels/model.hpp"}));
  EXPECT_EQ(
      wrong_citations(
          "docs/models/formula.md",
          "[a](../../attention/cpu) [b](#1-tokens-pairs) [c](formula.md#order) [d](x.md) [e](https://a.b/c)", tree),
      (Wrong{"a link to formula.md#order", "a link to x.md", "x.md"}));
  EXPECT_EQ(wrong_citations("cmake/a.cmake", "set(a b)  # tests/none_test.cpp\n", tree),
            (Wrong{"tests/none_test.cpp"}));
}

}  // namespace
}  // namespace molgraph::structure
