// The project as text: its files, their #include lines, and the build's targets.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace molgraph::structure {

/// One #include line. `path` is what is between the quotes or angle brackets.
struct Include {
  std::string path;
  bool quoted = false;  ///< "featurize/graph/error.hpp": the project's own
};

/// A library or program of a room.
struct Target {
  std::string name;
  std::string folder;                ///< "attention"
  std::string file;                  ///< of a program: where it was built, else empty
  std::vector<std::string> sources;  ///< relative to the project's root
  std::vector<std::string> links;    ///< targets
};

/// The whole file. Throws std::runtime_error.
std::string read_text(const std::string& path);

/// The #include lines of a text, in order; those in // comments are none.
std::vector<Include> includes_of(const std::string& text);

/// Files of the folder and below whose names end in one of `suffixes`, relative to `root`, sorted.
std::vector<std::string> files_below(const std::string& root, const std::string& folder,
                                     const std::vector<std::string>& suffixes);

/// The build's own list (tests/structure/CMakeLists.txt says its format).
std::vector<Target> read_targets(const std::string& path);

/// Includes of every file of the rooms, by path relative to the root.
using IncludeGraph = std::map<std::string, std::vector<Include>>;
IncludeGraph read_include_graph(const std::string& root, const std::vector<std::string>& rooms);

/// The project's own files that `file` reaches by #include lines, itself included.
std::set<std::string> reachable(const IncludeGraph& graph, const std::string& file);

/// "RDKit" for GraphMol/GraphMol.h, "" for a header of the language or the system.
std::string library_of(const std::string& header);

}  // namespace molgraph::structure
