// The rooms and the arrows between them. An #include or a link that the table below does not allow fails here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/structure/source_tree.hpp"

namespace molgraph::structure {
namespace {

const std::string kRoot = MOLGRAPH_SOURCE_DIR;
const std::vector<std::string> kRooms{"featurize", "datasets", "attention", "graphormer", "grpe", "apps"};
constexpr int kMaxLines = 400;   // a file one can read in a sitting

/// What a target may use. Folders are those whose headers its sources may include; an arrow never points up this table.
struct Rule {
  std::string target;
  std::set<std::string> folders;
  std::set<std::string> links;
  std::set<std::string> libraries;
};

/// Rooms and the folders inside them that have rules of their own; a file belongs to the longest one that it lies in.
const std::vector<std::string> kFolders{"featurize/graph",  "featurize/smiles", "attention/spec", "attention/cpu",  "attention/cuda",
                                        "attention/reference", "graphormer",    "grpe",           "datasets",       "apps/scoring",
                                        "apps/training",    "apps/programs"};
const std::set<std::string> kGraphs{"featurize/graph"};
const std::set<std::string> kPlain{"featurize/graph", "attention/spec"};
const std::set<std::string> kModules{"featurize/graph", "attention/spec", "attention/cpu", "attention/cuda", "attention/reference"};
const std::set<std::string> kScoring{"featurize/graph", "featurize/smiles", "attention/spec", "attention/cpu", "attention/cuda",
                                     "graphormer", "grpe", "datasets", "apps/scoring"};
const std::set<std::string> kAllFolders(kFolders.begin(), kFolders.end());

std::set<std::string> with(std::set<std::string> folders, const std::set<std::string>& more) {
  folders.insert(more.begin(), more.end());
  return folders;
}

const std::vector<Rule> kTable{
    {"featurize_graph", kGraphs, {}, {"Boost", "Boost.Graph", "xxHash"}},
    {"featurize_smiles", with(kGraphs, {"featurize/smiles"}), {"featurize_graph"}, {"RDKit", "Boost", "zlib"}},
    {"attention_spec", kPlain, {"featurize_graph"}, {"Eigen", "Highway"}},
    {"attention_cpu", with(kPlain, {"attention/cpu"}), {"attention_spec"}, {"Highway"}},
    {"attention_cuda", with(kPlain, {"attention/cpu", "attention/cuda"}), {"attention_spec", "attention_cpu"}, {"CUDA"}},
    {"attention", kModules, {"attention_cpu", "attention_cuda"}, {"LibTorch"}},
    {"graphormer_plain", with(kPlain, {"graphormer"}), {"attention_spec"}, {}},
    {"grpe_plain", with(kPlain, {"grpe"}), {"attention_spec"}, {}},
    {"graphormer", with(kModules, {"graphormer"}), {"graphormer_plain", "attention"}, {"LibTorch"}},
    {"grpe", with(kModules, {"grpe"}), {"grpe_plain", "attention"}, {"LibTorch"}},
    {"datasets",
     {"featurize/graph", "featurize/smiles", "datasets"},
     {"featurize_graph", "featurize_smiles"},
     {"HDF5", "zlib", "libzip", "libcurl", "JSON", "xxHash", "OpenSSL"}},
    {"predictor",
     kScoring,
     {"featurize_graph", "featurize_smiles", "datasets", "attention_cpu", "attention_cuda", "graphormer_plain", "grpe_plain"},
     {"JSON"}},
    {"program_shell",
     {"featurize/graph", "featurize/smiles", "datasets", "apps/programs"},
     {"datasets"},
     {"toml++", "spdlog", "CLI11", "zlib"}},
    {"batch_run", with(kScoring, {"apps/programs"}), {"predictor", "program_shell"}, {"JSON", "spdlog", "CLI11"}},
    {"trainer",
     kAllFolders,
     {"predictor", "program_shell", "graphormer", "grpe"},
     {"JSON", "toml++", "spdlog", "CLI11", "LibTorch"}},
};
/// Programs may use every room; RDKit, Boost, HDF5, LibTorch and the like stay in the rooms.
const Rule kPrograms{"", kAllFolders, {"trainer", "predictor", "batch_run", "program_shell", "datasets"}, {"JSON", "spdlog", "CLI11"}};

/// Headers of these folders may show LibTorch.
const std::set<std::string> kTorchHeaders{"attention/reference", "graphormer", "grpe", "apps/training"};

const Rule* rule_of(const Target& target) {
  if (!target.file.empty()) return &kPrograms;
  const auto found = std::find_if(kTable.begin(), kTable.end(), [&](const Rule& rule) { return rule.target == target.name; });
  return found == kTable.end() ? nullptr : &*found;
}

/// The longest of kFolders that the file lies in; else the folder itself, which no rule knows.
std::string folder_of(const std::string& file) {
  std::string longest = file.substr(0, file.rfind('/'));
  bool known = false;
  for (const std::string& folder : kFolders) {
    if (!file.starts_with(folder + "/") || (known && folder.size() < longest.size())) continue;
    longest = folder;
    known = true;
  }
  return longest;
}

std::set<std::string> private_headers() {
  std::set<std::string> headers;
  std::istringstream list(MOLGRAPH_PRIVATE_HEADERS);
  for (std::string header; std::getline(list, header, ',');) headers.insert(header);
  return headers;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = read_targets(MOLGRAPH_TARGETS_FILE);
  return all;
}

const IncludeGraph& graph() {
  static const IncludeGraph all = read_include_graph(kRoot, kRooms);
  return all;
}

/// What is wrong with the sources of `target` and with every header that they reach.
std::vector<std::string> wrong_arrows(const Target& target, const Rule& rule, const IncludeGraph& includes) {
  std::vector<std::string> wrong;
  for (const auto& source : target.sources) {
    if (!includes.contains(source)) continue;   // made by CMake in the build folder
    for (const auto& file : reachable(includes, source)) {
      if (!rule.folders.contains(folder_of(file))) wrong.push_back(source + " reaches " + file);
    }
    for (const auto& include : includes.at(source)) {
      const std::string library = include.quoted ? "" : library_of(include.path);
      if (!library.empty() && !rule.libraries.contains(library)) wrong.push_back(source + " uses " + library);
    }
  }
  return wrong;
}

TEST(Rooms, EveryTargetStandsInTheTable) {
  ASSERT_GE(targets().size(), kTable.size());
  for (const auto& target : targets()) {
    EXPECT_NE(rule_of(target), nullptr) << target.name << " (" << target.folder << "): add it to the table of rooms";
  }
  for (const auto& rule : kTable) {
    EXPECT_TRUE(std::any_of(targets().begin(), targets().end(), [&](const Target& t) { return t.name == rule.target; }))
        << rule.target << " stands in the table but is not built";
  }
}

TEST(Rooms, IncludesFollowTheTable) {
  for (const auto& target : targets()) {
    const Rule* rule = rule_of(target);
    if (rule == nullptr) continue;   // reported above
    for (const auto& text : wrong_arrows(target, *rule, graph())) ADD_FAILURE() << target.name << ": " << text;
  }
}

TEST(Rooms, LinksFollowTheTable) {
  std::set<std::string> ours;
  for (const auto& target : targets()) ours.insert(target.name);
  for (const auto& target : targets()) {
    const Rule* rule = rule_of(target);
    for (const auto& link : target.links) {
      if (rule == nullptr || !ours.contains(link)) continue;
      EXPECT_TRUE(rule->links.contains(link)) << target.name << " links " << link;
    }
  }
}

TEST(Rooms, OwnIncludesStartAtTheRoot) {
  for (const auto& [file, includes] : graph()) {
    for (const auto& include : includes) {
      EXPECT_TRUE(!include.quoted || graph().contains(include.path)) << file << " includes \"" << include.path << "\"";
    }
  }
}

TEST(Rooms, PublicHeadersShowNoLibrary) {
  const std::set<std::string> hidden = private_headers();
  for (const auto& [file, includes] : graph()) {
    if (!file.ends_with(".hpp") || hidden.contains(file)) continue;
    for (const auto& include : includes) {
      const std::string library = include.quoted ? "" : library_of(include.path);
      const bool allowed = library.empty() || (library == "LibTorch" && kTorchHeaders.contains(folder_of(file)));
      EXPECT_TRUE(allowed) << file << " shows " << library
                           << "; if only its own room includes it, name it in MOLGRAPH_PRIVATE_HEADERS";
      EXPECT_FALSE(include.quoted && hidden.contains(include.path)) << file << " includes the private " << include.path;
    }
  }
}

TEST(Rooms, PrivateHeadersStayInTheirFolder) {
  for (const auto& header : private_headers()) {
    EXPECT_TRUE(graph().contains(header)) << header << " stands in MOLGRAPH_PRIVATE_HEADERS but does not exist";
  }
  for (const auto& [file, includes] : graph()) {
    for (const auto& include : includes) {
      if (!include.quoted || !private_headers().contains(include.path)) continue;
      EXPECT_EQ(folder_of(file), folder_of(include.path)) << file << " includes the private " << include.path;
    }
  }
}

TEST(Rooms, ThePredictorsHeaderNeedsNoLibrary) {
  const auto reached = reachable(graph(), "apps/scoring/predictor.hpp");
  ASSERT_TRUE(reached.contains("apps/scoring/predictor.hpp"));
  for (const auto& file : reached) {
    for (const auto& include : graph().at(file)) {
      EXPECT_TRUE(include.quoted || library_of(include.path).empty()) << "apps/scoring/predictor.hpp reaches " << file;
    }
  }
}

TEST(Rooms, TorchFreeTargetsReachNoTorchHeader) {
  for (const auto& target : targets()) {
    const Rule* rule = rule_of(target);
    if (rule == nullptr || rule->libraries.contains("LibTorch") || !target.file.empty()) continue;
    for (const auto& source : target.sources) {
      for (const auto& file : reachable(graph(), source)) {
        for (const auto& include : graph().at(file)) {
          EXPECT_TRUE(include.quoted || library_of(include.path) != "LibTorch") << source << " reaches " << file;
        }
      }
    }
  }
}

TEST(Rooms, WrongArrowsAreSeen) {
  const IncludeGraph bad{{"grpe/grpe.cpp", {{"grpe/a.hpp", true}, {"hdf5.h", false}, {"torch/torch.h", false}}},
                         {"grpe/a.hpp", {{"graphormer/options.hpp", true}, {"vector", false}}},
                         {"graphormer/options.hpp", {}}};
  const Target target{.name = "grpe", .folder = "grpe", .file = {}, .sources = {"grpe/grpe.cpp"}, .links = {}};
  EXPECT_EQ(wrong_arrows(target, *rule_of(target), bad),
            (std::vector<std::string>{"grpe/grpe.cpp reaches graphormer/options.hpp", "grpe/grpe.cpp uses HDF5"}));
  EXPECT_EQ(includes_of("// #include <a>\n  #  include \"b/c.hpp\"\n#include <d/e.h>  // f\n").size(), 2u);
  EXPECT_EQ(library_of("GraphMol/GraphMol.h"), "RDKit");
  EXPECT_EQ(library_of("CIPLabeler/CIPLabeler.h"), "RDKit");
  EXPECT_EQ(library_of("sys/stat.h"), "");
  EXPECT_NE(library_of("absl/strings.h"), "");
}

TEST(Tree, EveryFolderHasAReadme) {
  namespace fs = std::filesystem;
  std::set<std::string> folders{"cmake", "scripts", "tests"};
  for (const auto& [file, includes] : graph()) folders.insert(fs::path(file).parent_path().generic_string());
  for (const auto& folder : folders) {
    EXPECT_TRUE(fs::exists(fs::path(kRoot) / folder / "README.md")) << folder << " has no README.md";
  }
}

TEST(Tree, FilesCanBeReadInASitting) {
  std::vector<std::string> files = files_below(kRoot, "tests", {".hpp", ".cpp"});
  for (const auto& [file, includes] : graph()) files.push_back(file);
  for (const auto& file : files) {
    const std::string text = read_text(kRoot + "/" + file);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMaxLines) << file;
  }
}

TEST(Tree, NoGlobbingAndNoFastMath) {
  std::vector<std::string> files{"CMakeLists.txt", "CMakePresets.json"};
  for (const auto& folder : kRooms) {
    for (const auto& file : files_below(kRoot, folder, {"CMakeLists.txt", ".cmake"})) files.push_back(file);
  }
  for (const auto& file : files_below(kRoot, "tests", {"CMakeLists.txt", ".cmake"})) files.push_back(file);
  for (const auto& file : files) {
    const std::string text = read_text(kRoot + "/" + file);
    EXPECT_EQ(text.find("file(GLOB"), std::string::npos) << file << ": name the files one by one";
    EXPECT_EQ(text.find("-ffast-math"), std::string::npos) << file << ": it breaks -inf and NaN";
  }
}

}  // namespace
}  // namespace molgraph::structure
