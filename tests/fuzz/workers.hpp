// Runs cases in a separate process, so that a crash or a hang is reported and the other cases continue.
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
  std::int64_t only = -1;               ///< only this case, and its files are kept; -1 = all
  std::vector<std::string> seed_files;  ///< in addition to those that the program makes
};

/// Prints each defect and the counts. Returns true if there is no defect, some cases are accepted and some rejected.
bool run_cases(Kind& kind, const FuzzOptions& options);

}  // namespace molgraph::fuzz
