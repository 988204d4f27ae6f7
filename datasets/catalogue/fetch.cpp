// The address table and its download.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/archives/zip_archive.hpp"
#include "datasets/catalogue/download.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

extern const char* const kAddressesJson;  // addresses.json, embedded in the program by CMake

namespace {

namespace fs = std::filesystem;

/// Throws FileError if the path is outside the data folder.
void check_relative_path(const std::string& relative, const std::string& where) {
  const fs::path path(relative);
  bool inside = !relative.empty() && path.is_relative();
  for (const fs::path& part : path) inside = inside && part != "..";
  if (!inside) throw FileError(where + ": '" + relative.substr(0, 200) + "' is not a path in the data folder");
}

/// Extracts the listed folders of the archive, then removes the archive.
void unpack(const Address& address, const fs::path& folder) {
  const std::string archive_path = (folder / address.to).string();
  {
    const ZipArchive archive(archive_path);
    for (const std::string& name : archive.names()) {
      if (name.ends_with('/')) continue;
      for (const auto& [from, to] : address.unpack) {
        if (!name.starts_with(from)) continue;
        const std::string relative = to + name.substr(from.size());
        check_relative_path(relative, archive_path);
        fs::create_directories((folder / relative).parent_path());
        archive.extract(name, (folder / relative).string());
      }
    }
  }
  fs::remove(archive_path);
}

}  // namespace

std::vector<Address> addresses_of(const std::string& data_set) {
  const char* override_path = std::getenv("MOLGRAPH_ADDRESSES");
  const std::string where = override_path != nullptr ? override_path : "addresses.json";
  try {
    const nlohmann::json table =
        nlohmann::json::parse(override_path != nullptr ? read_file(override_path) : std::string(kAddressesJson));
    std::vector<Address> addresses;
    if (!table.contains(data_set)) return addresses;
    for (const nlohmann::json& entry : table.at(data_set)) {
      Address address{entry.at("url").get<std::string>(), entry.at("to").get<std::string>(), "", {}};
      if (entry.contains("sha256") && !entry.at("sha256").is_null())
        address.sha256 = entry.at("sha256").get<std::string>();
      if (entry.contains("unpack")) address.unpack = entry.at("unpack").get<std::map<std::string, std::string>>();
      check_relative_path(address.to, where);
      addresses.push_back(std::move(address));
    }
    return addresses;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(where + ": not a valid address table: " + error.what());
  }
}

void fetch(const std::vector<Address>& addresses, const std::string& folder, const DownloadOptions& options) {
  for (const Address& address : addresses) {
    const std::string path = (fs::path(folder) / address.to).string();
    std::error_code error;
    if (!fs::exists(path, error)) {
      if (options.log) options.log("Downloading " + address.url + " to " + path);
      download(address.url, path, address.sha256, options);
    }
    if (!address.unpack.empty()) unpack(address, folder);
  }
}

}  // namespace molgraph
