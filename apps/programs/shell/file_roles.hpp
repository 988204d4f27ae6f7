// Checks of a program's input and output files. Writing to an input file would destroy it, so this is a usage error.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// A file and its role in messages, such as "the input" or "--rejected".
struct FileRole {
  std::string path;  ///< "-" = standard input or output
  std::string role;
};

/// Throws UsageError if an output is the same file as an input or as an output with another role. Files are compared by
/// device and inode, which detects symbolic and hard links, and files that do not exist yet by folder and name. Pipes,
/// terminals and devices may be both input and output. Call this before opening anything for writing.
void reject_overwriting(const std::vector<FileRole>& inputs, const std::vector<FileRole>& outputs);

/// Assigns one role to several files.
std::vector<FileRole> in_role(const std::string& role, const std::vector<std::string>& paths);

/// Throws UsageError if the folder `output` is an input or is inside one. The folder need not exist.
void reject_folder_inside(const std::vector<FileRole>& inputs, const FileRole& output);

}  // namespace molgraph
