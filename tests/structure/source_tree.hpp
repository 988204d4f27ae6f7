// The project's source files, their #include lines, and the targets of the build.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace molgraph::structure {

/// One #include line. `path` is the text between the quotes or angle brackets.
struct Include {
  std::string path;
  bool quoted = false;  ///< a header of the project: "featurize/graph/error.hpp"
};

/// A library or program.
struct Target {
  std::string name;
  std::string folder;                ///< "attention"
  std::string file;                  ///< the executable of a program, else empty
  std::vector<std::string> sources;  ///< relative to the project's root
  std::vector<std::string> links;    ///< targets
};

/// The content of the file. Throws std::runtime_error.
std::string read_text(const std::string& path);

/// The #include lines of a text, in order, without those in // comments.
std::vector<Include> includes_of(const std::string& text);

/// Files of the folder and its subfolders whose names end in one of `suffixes`, relative to `root`, sorted.
std::vector<std::string> files_below(const std::string& root, const std::string& folder,
                                     const std::vector<std::string>& suffixes);

/// Reads the target list of the build (tests/structure/CMakeLists.txt describes its format).
std::vector<Target> read_targets(const std::string& path);

/// Includes of every file of the folders, by path relative to the root.
using IncludeGraph = std::map<std::string, std::vector<Include>>;
IncludeGraph read_include_graph(const std::string& root, const std::vector<std::string>& folders);

/// The project's files that `file` includes directly or indirectly, and `file` itself.
std::set<std::string> reachable(const IncludeGraph& graph, const std::string& file);

/// "RDKit" for GraphMol/GraphMol.h, "" for a header of C++ or the system.
std::string library_of(const std::string& header);

}  // namespace molgraph::structure
