// Tables of molecules in, the same tables with a model's predictions out.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/batch/batch_run.hpp"

namespace molgraph {

struct ScoreOptions {
  BatchOptions batch;
  std::vector<std::string> models;
  std::string nearest;      ///< the training molecules to measure the distance from; "" = none
  bool individual = false;  ///< a column per model of an ensemble
  bool calibrate = true;
  double interval = 0;            ///< level; 0 = no columns
  bool domain = false;            ///< columns domain_...
  std::string explain;            ///< "atoms" or "rollout"; "" = no columns
  std::string draw, draw_target;  ///< folder for pictures of the explanations; "" = none, the first target
};

/// Returns the exit code. Throws UsageError, DataError, FileError, Stopped, ClosedPipe.
int score(const ScoreOptions& options);

}  // namespace molgraph
