// The components and their dependencies. The tests fail on an #include or a link that the tables below do not allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/structure/source_tree.hpp"

namespace molgraph::structure {
namespace {

const std::string kRoot = MOLGRAPH_SOURCE_DIR;
const std::vector<std::string> kTopFolders{"featurize", "datasets", "attention", "graphormer",
                                           "grpe",      "apps",     "python"};
constexpr int kMaxLines = 400;  // per file

/// What the files of a component may use. `path` is a folder with its subfolders, or the beginning of a file's path. A
/// file belongs to the component with the longest matching path and may always include files of that component.
struct Component {
  std::string path;
  std::set<std::string> includes;   ///< components, by their paths
  std::set<std::string> libraries;  ///< third-party libraries
  bool exposes_torch = false;       ///< its headers may include LibTorch
};

using Names = std::set<std::string>;

Names operator+(Names names, const Names& more) {
  names.insert(more.begin(), more.end());
  return names;
}

const Names kGraph{"featurize/graph"};
const Names kSpec = kGraph + Names{"attention/spec"};
const Names kEngine = kSpec + Names{"attention"};  // engine.hpp and the types that it returns
const Names kChemistry = kGraph + Names{"featurize/descriptors", "featurize/smiles"};
const Names kFiles = kGraph + Names{"datasets/system"};
const Names kDatasets = kChemistry + Names{"datasets",       "datasets/system", "datasets/archives", "datasets/tables",
                                           "datasets/store", "datasets/splits", "datasets/catalogue"};
const Names kModules = kEngine + Names{"attention/reference"};
const Names kPresets{"graphormer", "graphormer/plain", "grpe", "grpe/plain"};
const Names kScoring = kDatasets + kEngine + Names{"graphormer/plain", "grpe/plain", "apps/scoring"};
const Names kLoop = kScoring + kModules + kPresets +
                    Names{"apps/training/loop", "apps/training/loop/metrics.hpp", "apps/training/loop/run_control.hpp",
                          "apps/training/loop/schedule.hpp"};
const Names kOptions =
    kScoring + Names{"apps/training/loop/metrics.hpp", "apps/training/loop/schedule.hpp", "apps/training/options"};
const Names kTraining =
    kOptions + kLoop +
    Names{"apps/training/run", "apps/training/run/calibration_fit.hpp", "apps/training/baselines", "apps/report"};
const Names kShell = kDatasets + Names{"attention/spec", "apps/scoring", "apps/programs/shell"};

/// The allowed includes. A component normally follows the components that it uses.
const std::vector<Component> kTable{
    {"featurize/graph", {}, {"Boost", "Boost.Graph", "xxHash"}},
    {"featurize/descriptors", kGraph, {"RDKit"}},
    {"featurize/smiles", kGraph + Names{"featurize/descriptors"}, {"RDKit", "Boost", "zlib"}},
    {"attention/spec", kGraph, {"Eigen"}},
    {"attention/spec/random.cpp", kSpec, {"Highway"}},  // vectorised random numbers
    {"attention/formula", kSpec, {}},
    {"attention", kSpec, {}},
    {"attention/cpu/kernels", kSpec, {"Highway"}},
    {"attention/cpu", kEngine + Names{"attention/cpu/kernels"}, {}},
    {"attention/cuda/gpu", kEngine + Names{"attention/cuda"}, {"CUDA"}},
    {"attention/cuda", kEngine + Names{"attention/cuda/gpu"}, {}},
    {"attention/engine.cpp", kEngine + Names{"attention/cpu", "attention/cuda"}, {}},
    {"attention/reference", kEngine, {"LibTorch"}, true},
    {"graphormer/plain", kSpec, {}},
    {"grpe/plain", kSpec, {}},
    {"graphormer", kModules + Names{"graphormer/plain"}, {"LibTorch"}, true},
    {"grpe", kModules + Names{"grpe/plain"}, {"LibTorch"}, true},
    {"datasets/system", kGraph, {"OpenSSL"}},
    {"datasets/archives", kFiles, {"zlib", "libzip", "JSON", "xxHash"}},
    {"datasets/tables", kFiles + kChemistry, {"zlib", "xxHash"}},
    {"datasets/store",
     kFiles + Names{"featurize/descriptors", "datasets/archives", "datasets/tables"},
     {"HDF5", "zlib", "xxHash"}},
    {"datasets/splits", kFiles + kChemistry + Names{"datasets/tables", "datasets/store"}, {"JSON"}},
    {"datasets/catalogue",
     kFiles + kChemistry + Names{"datasets/archives", "datasets/tables", "datasets/store", "datasets/splits"},
     {"libcurl", "JSON"}},
    {"datasets", kDatasets, {}},
    {"apps/scoring/nearest_rows.cpp", kScoring + Names{"attention/cpu/kernels"}, {}},  // the engine's matrix product
    {"apps/scoring", kScoring + Names{"attention/formula"}, {"JSON"}},
    {"apps/report", kScoring, {"JSON"}},
    {"apps/training/loop/metrics.hpp", kScoring, {}},
    {"apps/training/loop/metrics.cpp", kScoring + Names{"apps/training/loop/metrics.hpp"}, {}},
    {"apps/training/loop/run_control.hpp", kScoring, {}},
    {"apps/training/loop/schedule.hpp", kScoring, {}},
    {"apps/training/run/calibration_fit.hpp", kScoring, {}},
    {"apps/training/run/calibration_fit.cpp", kScoring + Names{"apps/training/run/calibration_fit.hpp"}, {}},
    {"apps/training/loop", kLoop, {"JSON", "LibTorch"}, true},
    {"apps/training/options", kOptions, {"toml++"}},
    {"apps/training/baselines",
     kScoring + Names{"apps/training/loop/metrics.hpp", "apps/training/loop/run_control.hpp"},
     {"XGBoost", "JSON", "Eigen"}},
    {"apps/training/run", kTraining, {"JSON", "LibTorch"}, true},
    {"apps/programs/shell", kShell, {"toml++", "spdlog", "CLI11", "zlib"}},
    {"apps/programs/batch", kScoring + kShell, {"JSON", "spdlog", "CLI11"}},
    {"apps/programs/score", kScoring + kShell + Names{"apps/programs/batch"}, {"spdlog", "CLI11"}},
    {"apps/programs/embed", kScoring + kShell + Names{"apps/programs/batch"}, {"spdlog", "CLI11"}},
    {"apps/programs/info", kScoring + kShell + Names{"apps/report"}, {"JSON", "spdlog", "CLI11"}},
    {"apps/programs/featurize", kShell, {"spdlog", "CLI11"}},
    {"apps/programs/train", kTraining + kShell, {"spdlog", "CLI11"}},
    {"apps/programs/pretrain", kTraining + kShell + Names{"apps/programs/train"}, {}},
    {"apps/programs/import", kTraining + kShell, {"spdlog", "CLI11"}},
    {"python/bindings", kScoring, {"nanobind"}},
};

/// Files of `graphormer` and `grpe` that describe a model without LibTorch.
const Names kPlainFiles{"architecture.hpp", "architecture.cpp"};

/// The project's libraries that a library may link directly.
const std::map<std::string, Names> kLinks{
    {"featurize_graph", {}},
    {"featurize_descriptors", {"featurize_graph"}},
    {"featurize_smiles", {"featurize_graph", "featurize_descriptors"}},
    {"featurize_drawing", {"featurize_graph", "featurize_smiles"}},
    {"attention_spec", {"featurize_graph"}},
    {"attention_formula", {"attention_spec"}},
    {"attention_cpu", {"attention_spec"}},
    {"attention_cuda", {"attention_spec"}},
    {"attention_engine", {"attention_spec", "attention_cpu", "attention_cuda"}},
    {"attention", {"attention_spec", "attention_engine"}},
    {"graphormer_plain", {"attention_spec"}},
    {"grpe_plain", {"attention_spec"}},
    {"graphormer", {"graphormer_plain", "attention"}},
    {"grpe", {"grpe_plain", "attention"}},
    {"datasets", {"featurize_graph", "featurize_smiles"}},
    {"predictor",
     {"featurize_graph", "featurize_smiles", "datasets", "attention_spec", "attention_formula", "attention_engine",
      "graphormer_plain", "grpe_plain", "attention_cpu"}},  // nearest_rows.cpp
    {"program_shell", {"datasets"}},
    {"batch_run", {"predictor", "program_shell"}},
    {"report", {"predictor", "featurize_drawing"}},
    {"baselines", {"predictor"}},
    {"trainer", {"predictor", "baselines", "report", "graphormer", "grpe"}},
    {"train_program", {"trainer", "program_shell"}},
};
const Names kProgramLinks{"trainer",       "train_program", "predictor",         "batch_run",
                          "program_shell", "datasets",      "featurize_drawing", "report"};
/// These programs train, import or check models. No other program needs LibTorch.
const Names kTorchPrograms{"molgraph-train", "molgraph-pretrain", "molgraph-import"};

/// The path of the file in the table: graphormer/architecture.hpp belongs to the separate component "plain".
std::string table_path_of(const std::string& file) {
  for (const std::string preset : {"graphormer/", "grpe/"}) {
    if (file.starts_with(preset) && kPlainFiles.contains(file.substr(preset.size())))
      return preset + "plain/" + file.substr(preset.size());
  }
  return file;
}

/// Null for a file that belongs to no component.
const Component* component_of(const std::string& file) {
  const std::string path = table_path_of(file);
  const Component* longest = nullptr;
  for (const Component& component : kTable) {
    if (path != component.path && !path.starts_with(component.path + "/")) continue;
    if (longest == nullptr || longest->path.size() < component.path.size()) longest = &component;
  }
  return longest;
}

const Names& public_headers() {
  static const Names headers = [] {
    Names names;
    std::istringstream list(MOLGRAPH_PUBLIC_HEADERS);
    for (std::string header; std::getline(list, header, ',');) names.insert(header);
    return names;
  }();
  return headers;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = read_targets(MOLGRAPH_TARGETS_FILE);
  return all;
}

const IncludeGraph& graph() {
  static const IncludeGraph all = read_include_graph(kRoot, kTopFolders);
  return all;
}

/// The includes of `file` that its component may not use.
std::vector<std::string> forbidden_includes(const std::string& file, const std::vector<Include>& includes) {
  std::vector<std::string> wrong;
  const Component* component = component_of(file);
  if (component == nullptr) return {file + " belongs to no component of the table"};
  for (const auto& include : includes) {
    if (include.quoted) {
      const Component* other = component_of(include.path);
      if (other == nullptr || (other != component && !component->includes.contains(other->path)))
        wrong.push_back(file + " includes " + include.path);
      continue;
    }
    const std::string library = library_of(include.path);
    if (library.empty()) continue;
    if (!component->libraries.contains(library)) wrong.push_back(file + " uses " + library);
    if (library == "LibTorch" && file.ends_with(".hpp") && !component->exposes_torch)
      wrong.push_back(file + " includes LibTorch in a header");
  }
  return wrong;
}

bool links_torch(const std::string& name) {
  for (const auto& target : targets()) {
    if (target.name != name) continue;
    return std::any_of(target.links.begin(), target.links.end(),
                       [](const std::string& link) { return link == "LibTorch::LibTorch" || links_torch(link); });
  }
  return false;
}

TEST(Components, IncludesFollowTheTable) {
  for (const auto& [file, includes] : graph()) {
    for (const auto& text : forbidden_includes(file, includes)) ADD_FAILURE() << text;
  }
}

TEST(Components, TableContainsOnlyExistingComponents) {
  for (const auto& component : kTable) {
    EXPECT_TRUE(std::any_of(graph().begin(), graph().end(), [&](const auto& entry) {
      return component_of(entry.first) == &component;
    })) << component.path;
    for (const auto& name : component.includes) {
      EXPECT_TRUE(std::any_of(kTable.begin(), kTable.end(), [&](const Component& other) { return other.path == name; }))
          << name;
    }
  }
}

TEST(Components, LinksFollowTheTable) {
  Names own_targets;
  for (const auto& target : targets()) own_targets.insert(target.name);
  for (const auto& [name, links] : kLinks)
    EXPECT_TRUE(own_targets.contains(name)) << name << " is in the table but is not built";
  for (const auto& target : targets()) {
    const auto rule = kLinks.find(target.name);
    if (target.file.empty() && rule == kLinks.end()) {
      ADD_FAILURE() << target.name << " (" << target.folder << "): add it to the table of links";
      continue;
    }
    const Names& allowed = target.file.empty() ? rule->second : kProgramLinks;
    for (const auto& link : target.links) {
      EXPECT_TRUE(!own_targets.contains(link) || allowed.contains(link)) << target.name << " links " << link;
    }
  }
}

TEST(Components, OnlyTrainingNeedsLibTorch) {
  for (const auto& target : targets()) {
    if (!target.file.empty()) {
      EXPECT_EQ(links_torch(target.name), kTorchPrograms.contains(target.name)) << target.name;
    }
    if (links_torch(target.name)) continue;
    for (const auto& source : target.sources) {
      for (const auto& file : reachable(graph(), source)) {
        for (const auto& include : graph().at(file)) {
          EXPECT_TRUE(include.quoted || library_of(include.path) != "LibTorch") << source << " reaches " << file;
        }
      }
    }
  }
}

TEST(Components, ProjectIncludesStartAtTheRoot) {
  for (const auto& [file, includes] : graph()) {
    for (const auto& include : includes) {
      EXPECT_TRUE(!include.quoted || graph().contains(include.path)) << file << " includes \"" << include.path << "\"";
    }
  }
}

TEST(Components, PublicHeadersIncludeNoLibraryAndNoPrivateHeader) {
  for (const auto& header : public_headers()) {
    ASSERT_TRUE(graph().contains(header)) << header << " is in MOLGRAPH_PUBLIC_HEADERS but does not exist";
    for (const auto& include : graph().at(header)) {
      EXPECT_TRUE(include.quoted || library_of(include.path).empty()) << header << " includes " << include.path;
      EXPECT_TRUE(!include.quoted || public_headers().contains(include.path))
          << header << " includes the private " << include.path;
    }
  }
}

TEST(Components, HeadersWithLibrariesStayInTheirComponent) {
  for (const auto& [file, includes] : graph()) {
    for (const auto& reached : reachable(graph(), file)) {
      if (component_of(reached) == component_of(file) ||
          (component_of(reached) != nullptr && component_of(reached)->exposes_torch))
        continue;
      for (const auto& include : graph().at(reached)) {
        EXPECT_TRUE(include.quoted || library_of(include.path).empty())
            << file << " reaches " << reached << ", which includes " << include.path;
      }
    }
  }
}

TEST(Components, DetectsForbiddenIncludes) {
  EXPECT_EQ(forbidden_includes("grpe/published.cpp", {{"grpe/published.hpp", true},
                                                      {"graphormer/architecture.hpp", true},
                                                      {"hdf5.h", false},
                                                      {"torch/torch.h", false}}),
            (std::vector<std::string>{"grpe/published.cpp includes graphormer/architecture.hpp",
                                      "grpe/published.cpp uses HDF5"}));
  EXPECT_EQ(forbidden_includes("attention/cuda/a.hpp",
                               {{"attention/cpu/model.hpp", true}, {"attention/cuda/gpu/runtime.hpp", true}}),
            (std::vector<std::string>{"attention/cuda/a.hpp includes attention/cpu/model.hpp"}));
  EXPECT_EQ(forbidden_includes(
                "attention/cpu/a.hpp",
                {{"attention/engine.hpp", true}, {"attention/cuda/model.hpp", true}, {"cuda_runtime.h", false}}),
            (std::vector<std::string>{"attention/cpu/a.hpp includes attention/cuda/model.hpp",
                                      "attention/cpu/a.hpp uses CUDA"}));
  EXPECT_EQ(forbidden_includes("attention/spec/a.hpp", {{"attention/engine.hpp", true}}).size(), 1u);
  EXPECT_EQ(
      forbidden_includes("datasets/archives/npz.cpp", {{"datasets/store/store.hpp", true}, {"zip.h", false}}).size(),
      1u);
  EXPECT_EQ(forbidden_includes("core/a.hpp", {}).size(), 1u);
  EXPECT_EQ(component_of("graphormer/architecture.hpp")->path, "graphormer/plain");
  EXPECT_EQ(component_of("attention/engine.hpp")->path, "attention");
  EXPECT_EQ(component_of("attention/engine.cpp")->path, "attention/engine.cpp");
  EXPECT_EQ(includes_of("// #include <a>\n  #  include \"b/c.hpp\"\n#include <d/e.h>  // f\n").size(), 2u);
  EXPECT_EQ(library_of("GraphMol/GraphMol.h"), "RDKit");
  EXPECT_EQ(library_of("CIPLabeler/CIPLabeler.h"), "RDKit");
  EXPECT_EQ(library_of("sys/stat.h"), "");
  EXPECT_EQ(library_of("netinet/in.h"), "");
  EXPECT_NE(library_of("absl/strings.h"), "");
  EXPECT_NE(library_of("oneapi/dnnl/dnnl.hpp"), "");
}

TEST(Tree, EveryFolderHasAReadme) {
  namespace fs = std::filesystem;
  std::set<std::string> folders{"cmake", "scripts", "tests"};
  for (const auto& [file, includes] : graph()) folders.insert(fs::path(file).parent_path().generic_string());
  for (const auto& folder : folders) {
    EXPECT_TRUE(fs::exists(fs::path(kRoot) / folder / "README.md")) << folder << " has no README.md";
  }
}

TEST(Tree, FilesAreShort) {
  std::vector<std::string> files = files_below(kRoot, "tests", {".hpp", ".cpp"});
  for (const auto& [file, includes] : graph()) files.push_back(file);
  for (const auto& file : files) {
    const std::string text = read_text(kRoot + "/" + file);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMaxLines) << file;
  }
}

TEST(Tree, NoGlobbingAndNoFastMath) {
  std::vector<std::string> files{"CMakeLists.txt", "CMakePresets.json"};
  for (const auto& folder : kTopFolders) {
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
