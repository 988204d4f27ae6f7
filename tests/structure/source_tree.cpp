#include "tests/structure/source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace molgraph::structure {

namespace fs = std::filesystem;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex line(R"(^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    std::smatch match;
    if (std::regex_search(one, match, line)) includes.push_back({match[2], match[1] == "\""});
  }
  return includes;
}

std::vector<std::string> files_below(const std::string& root, const std::string& folder,
                                     const std::vector<std::string>& suffixes) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
    const std::string name = entry.path().filename().string();
    const bool matches = std::any_of(suffixes.begin(), suffixes.end(),
                                     [&](const std::string& suffix) { return name.ends_with(suffix); });
    if (entry.is_regular_file() && matches) files.push_back(fs::relative(entry.path(), root).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Target> read_targets(const std::string& path) {
  std::vector<Target> targets;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, first, second;
    words >> kind >> first >> second;
    if (kind == "library" || kind == "program") {
      targets.push_back({.name = first, .folder = second, .file = {}, .sources = {}, .links = {}});
    } else if (kind == "file") {
      targets.back().file = first;
    } else if (kind == "source") {
      targets.back().sources.push_back(targets.back().folder + "/" + first);
    } else if (kind == "link") {
      targets.back().links.push_back(first);
    }
  }
  return targets;
}

IncludeGraph read_include_graph(const std::string& root, const std::vector<std::string>& folders) {
  IncludeGraph graph;
  for (const auto& folder : folders) {
    for (const auto& file : files_below(root, folder, {".hpp", ".cpp", ".cu", ".cuh", ".h"})) {
      graph[file] = includes_of(read_text(root + "/" + file));
    }
  }
  return graph;
}

std::set<std::string> reachable(const IncludeGraph& graph, const std::string& file) {
  std::set<std::string> seen;
  std::vector<std::string> open{file};
  while (!open.empty()) {
    const std::string here = open.back();
    open.pop_back();
    const auto found = graph.find(here);
    if (found == graph.end() || !seen.insert(here).second) continue;
    for (const auto& include : found->second) {
      if (include.quoted) open.push_back(include.path);
    }
  }
  return seen;
}

std::string library_of(const std::string& header) {
  static const std::vector<std::pair<std::string, std::string>> prefixes{
      {"GraphMol/", "RDKit"},   {"CIPLabeler/", "RDKit"},
      {"RDGeneral/", "RDKit"},  {"DataStructs/", "RDKit"},
      {"Geometry/", "RDKit"},   {"boost/graph/", "Boost.Graph"},
      {"boost/", "Boost"},      {"hdf5", "HDF5"},
      {"H5", "HDF5"},           {"zlib.h", "zlib"},
      {"zip.h", "libzip"},      {"curl/", "libcurl"},
      {"nlohmann/", "JSON"},    {"xxhash", "xxHash"},
      {"openssl/", "OpenSSL"},  {"toml++/", "toml++"},
      {"spdlog/", "spdlog"},    {"fmt/", "spdlog"},
      {"CLI/", "CLI11"},        {"torch/", "LibTorch"},
      {"ATen/", "LibTorch"},    {"c10/", "LibTorch"},
      {"caffe2/", "LibTorch"},  {"Eigen/", "Eigen"},
      {"hwy/", "Highway"},      {"cuda", "CUDA"},
      {"cublas", "CUDA"},       {"cooperative_groups", "CUDA"},
      {"mma.h", "CUDA"},        {"xgboost/", "XGBoost"},
      {"nanobind/", "nanobind"}};
  for (const auto& [prefix, library] : prefixes) {
    if (header.starts_with(prefix)) return library;
  }
  // Headers of C++ (vector), of C and POSIX (math.h, sys/stat.h) and of the compiler (immintrin.h).
  const bool system = header.find('/') == std::string::npos || header.starts_with("sys/") ||
                      header.starts_with("linux/") || header.starts_with("net/") || header.starts_with("netinet/");
  return system ? "" : "an unknown library (" + header + ")";
}

}  // namespace molgraph::structure
