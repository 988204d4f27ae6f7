// Files of a run that contain information about its training molecules, and their removal.
#pragma once

#include <string>

namespace molgraph {

/// Removes files that predictions do not need, and molecules from records, and updates model_card.md. Returns one line
/// per action. Throws UsageError if `run` is not a run directory or its training is not finished, and FileError.
std::string strip_run(const std::string& run);

}  // namespace molgraph
