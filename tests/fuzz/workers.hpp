// Runs cases in a process of its own, so that a crash or a hang is one more finding and not the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/kind.hpp"

namespace molgraph::fuzz {

struct FuzzOptions {
  std::string kind;
  std::int64_t count = 1000;
  std::uint64_t seed = 1;
  std::int64_t only = -1;               ///< this case alone, with its damaged file kept; -1 = all
  std::vector<std::string> seed_files;  ///< beside those that the program makes
};

/// Prints a line per defect and the counts; true if there was none, and some cases were accepted and some refused.
bool run_cases(Kind& kind, const FuzzOptions& options);

}  // namespace molgraph::fuzz
