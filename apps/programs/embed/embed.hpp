// Embeds tables of molecules: one vector per row.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/batch/batch_run.hpp"

namespace molgraph {

struct EmbedOptions {
  BatchOptions batch;
  std::string model;
  std::string pooling = "token", dtype = "float32";
  std::vector<int> layers{-1};  ///< concatenated; -1 = the last layer
  bool l2 = false;              ///< scale each row to length 1
};

/// Returns the exit code. Throws UsageError, DataError, FileError, Stopped, ClosedPipe.
int embed(const EmbedOptions& options);

}  // namespace molgraph
