// Small file helpers: atomic writes and hashes.
#pragma once

#include <string>
#include <string_view>

namespace molgraph {

/// Writes the whole text to a temporary name beside `path`, flushes it to disk and renames. Throws FileError.
void write_file_atomically(const std::string& path, std::string_view content);
/// The whole file. Throws FileError.
std::string read_file(const std::string& path);
/// SHA-256 of a file, 64 hex digits. Throws FileError.
std::string sha256_of_file(const std::string& path);

}  // namespace molgraph
