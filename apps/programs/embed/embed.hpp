// Tables of molecules in, one vector per row out.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/batch/batch_run.hpp"

namespace molgraph {

struct EmbedOptions {
  BatchOptions batch;
  std::string model;
  std::string pooling = "token", dtype = "float32";
  std::vector<int> layers{-1};  ///< put side by side; -1 = the last
  bool l2 = false;              ///< each row scaled to length 1
};

/// Returns the exit code. Throws UsageError, DataError, FileError, Stopped, ClosedPipe.
int embed(const EmbedOptions& options);

}  // namespace molgraph
