// Reads the reference tables of tests: plain or gzipped CSV without quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph::test {

/// "$VARIABLE/name" if the variable is set and the file exists, else "". Tests skip if it is empty.
std::string golden_file(const char* variable, const std::string& name);

/// Rows of the file without its header, split at commas. Throws std::runtime_error if it cannot be read.
std::vector<std::vector<std::string>> golden_rows(const std::string& path);

/// The parts of `text` between separators.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace molgraph::test
