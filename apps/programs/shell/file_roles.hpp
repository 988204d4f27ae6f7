// What a program reads and what it writes: an output that is an input would be destroyed, so it is refused beforehand.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// A file and what it is to the program, for messages: "the input", "--rejected".
struct FileRole {
  std::string path;  ///< "-" = standard input or output
  std::string role;
};

/// Throws UsageError if an output is the same file as an input or as an output of another role: by device and inode, so
/// through symbolic and hard links, and for files that are not there yet by folder and name. Pipes, terminals and
/// devices may be both. Call it before anything is opened for writing.
void refuse_overwriting(const std::vector<FileRole>& inputs, const std::vector<FileRole>& outputs);

/// The role of several files.
std::vector<FileRole> in_role(const std::string& role, const std::vector<std::string>& paths);

/// Throws UsageError if the folder `output`, there or not, is an input or would lie inside one.
void refuse_folder_inside(const std::vector<FileRole>& inputs, const FileRole& output);

}  // namespace molgraph
