#include "apps/programs/shell/file_roles.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <tuple>

#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

/// Device and inode of a file; for a file that does not exist yet, those of its folder and the file's name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

std::optional<Identity> identity_of(const struct stat& info) {
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return std::nullopt;
  return Identity{info.st_dev, info.st_ino, ""};
}

/// Returns nothing for a path that cannot be overwritten.
std::optional<Identity> identity_of(const std::string& path, int standard_stream) {
  struct stat info {};
  if (path == "-") {
    const bool known = ::fstat(standard_stream, &info) == 0 && S_ISREG(info.st_mode);
    return known ? identity_of(info) : std::nullopt;
  }
  if (path.empty()) return std::nullopt;
  if (::stat(path.c_str(), &info) == 0) return identity_of(info);
  const fs::path target = linked_file(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (::stat(folder.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino, target.filename().string()};
}

std::string shown(const FileRole& file, const char* stream) {
  return file.role + (file.path == "-" ? stream : " " + file.path);
}

}  // namespace

void reject_overwriting(const std::vector<FileRole>& inputs, const std::vector<FileRole>& outputs) {
  std::vector<std::optional<Identity>> written;
  for (const FileRole& output : outputs) written.push_back(identity_of(output.path, STDOUT_FILENO));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!written[o]) continue;
    for (const FileRole& input : inputs) {
      if (identity_of(input.path, STDIN_FILENO) != written[o]) continue;
      throw UsageError(shown(outputs[o], " (standard output)") + " is the same file as " +
                       shown(input, " (standard input)") + ", which would be overwritten");
    }
    for (std::size_t other = 0; other < o; ++other) {
      if (written[other] != written[o] || outputs[other].role == outputs[o].role) continue;
      throw UsageError(shown(outputs[o], " (standard output)") + " is the same file as " +
                       shown(outputs[other], " (standard output)"));
    }
  }
}

std::vector<FileRole> in_role(const std::string& role, const std::vector<std::string>& paths) {
  std::vector<FileRole> files;
  for (const std::string& path : paths) files.push_back({path, role});
  return files;
}

void reject_folder_inside(const std::vector<FileRole>& inputs, const FileRole& output) {
  std::error_code error;
  fs::path folder = fs::absolute(output.path, error).lexically_normal();
  if (error) return;
  for (; folder != folder.parent_path(); folder = folder.parent_path()) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) continue;
    const std::optional<Identity> folder_identity = identity_of(info);
    for (const FileRole& input : inputs) {
      if (!folder_identity || input.path == "-" || identity_of(input.path, STDIN_FILENO) != folder_identity) continue;
      throw UsageError(output.role + " " + output.path + " lies inside " + input.role + " " + input.path +
                       " or is the same folder");
    }
  }
}

}  // namespace molgraph
