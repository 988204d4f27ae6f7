#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

/// Locations of the data in a Python package: next to its module and one folder above its programs.
std::vector<std::string> packaged() {
  std::vector<std::string> places;
  std::error_code ignored;
  if (Dl_info info; dladdr(reinterpret_cast<const void*>(&rdkit_data_dir), &info) != 0 && info.dli_fname != nullptr)
    if (const fs::path module = info.dli_fname; module.is_absolute())  // a program's name may be what it was called by
      places.push_back((module.parent_path() / "share/RDKit").string());
  if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !ignored)
    places.push_back((program.parent_path().parent_path() / "share/RDKit").string());
  return places;
}

}  // namespace

std::string rdkit_data_dir() {
  std::vector<std::string> places;
  const char* base = std::getenv("RDBASE");
  if (base != nullptr && *base != '\0') places.emplace_back(base);
  for (const std::string& place : packaged()) places.push_back(place);
  // Next to the RDKit found when this was built, then the locations of Linux distributions.
  for (const char* place : {MOLGRAPH_RDKIT_SHARE, "/usr/share/RDKit", "/usr/local/share/RDKit"}) {
    if (*place != '\0') places.emplace_back(place);
  }
  std::string searched;
  for (const std::string& place : places) {
    std::error_code ignored;
    if (fs::is_directory(place + "/Data", ignored)) return place;
    if (searched.find(place) == std::string::npos) searched += (searched.empty() ? "" : ", ") + place;
  }
  throw FileError("RDKit's data directory not found (looked in " + searched +
                  "): install rdkit-data or set RDBASE to the directory that contains Data and Contrib");
}

}  // namespace molgraph
