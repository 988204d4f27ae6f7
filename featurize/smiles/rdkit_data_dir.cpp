#include <dlfcn.h>
#include <link.h>

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

/// Location of the data in a Python package: next to its module, one folder above its programs.
fs::path packaged() {
  Dl_info info;
  link_map* file = nullptr;  // that contains this function
  if (dladdr1(reinterpret_cast<const void*>(&rdkit_data_dir), &info, reinterpret_cast<void**>(&file),
              RTLD_DL_LINKMAP) == 0)
    return {};
  if (*file->l_name != '\0') return fs::absolute(file->l_name).parent_path() / "share/RDKit";
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "share/RDKit";
}

}  // namespace

std::string rdkit_data_dir() {
  std::vector<std::string> places{packaged().string()};
  // Next to the RDKit found when this was built, then the locations of Linux distributions.
  for (const char* place : {MOLGRAPH_RDKIT_SHARE, "/usr/share/RDKit", "/usr/local/share/RDKit"}) {
    if (*place != '\0') places.emplace_back(place);
  }
  if (const char* base = std::getenv("RDBASE"); base != nullptr && *base != '\0') places.emplace_back(base);
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
