// Reads the tables that tests compare with: plain or gzipped CSV without quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph::test {

/// "$VARIABLE/name" if the variable is set and the file exists, else "": such a test is skipped.
std::string golden_file(const char* variable, const std::string& name);

/// Rows of the file without its header, split at commas. Throws std::runtime_error if it cannot be read.
std::vector<std::vector<std::string>> golden_rows(const std::string& path);

/// "a b;c d" at `separator`.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace molgraph::test
