#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {

std::string rdkit_data_dir() {
  std::vector<std::string> places;
  const char* base = std::getenv("RDBASE");
  if (base != nullptr && *base != '\0') places.emplace_back(base);
  // Beside the RDKit found when this was built, then where distributions put it.
  for (const char* place : {MOLGRAPH_RDKIT_SHARE, "/usr/share/RDKit", "/usr/local/share/RDKit"}) {
    if (*place != '\0') places.emplace_back(place);
  }
  std::string looked;
  for (const std::string& place : places) {
    std::error_code ignored;
    if (std::filesystem::is_directory(place + "/Data", ignored)) return place;
    if (looked.find(place) == std::string::npos) looked += (looked.empty() ? "" : ", ") + place;
  }
  throw FileError("RDKit's data directory not found (looked in " + looked +
                  "): install rdkit-data or set RDBASE to the directory that holds Data and Contrib");
}

}  // namespace molgraph
