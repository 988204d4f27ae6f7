// Adds a model's predictions to tables of molecules.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/batch/batch_run.hpp"

namespace molgraph {

struct ScoreOptions {
  BatchOptions batch;
  std::vector<std::string> models;
  std::string nearest;      ///< store or table of training molecules, for distances; "" = none
  bool individual = false;  ///< a column for each model of an ensemble
  bool calibrate = true;
  double interval = 0;            ///< coverage; 0 = no columns
  bool domain = false;            ///< columns domain_...
  std::string explain;            ///< "atoms", "fragments" or "rollout"; "" = no columns
  std::string draw, draw_target;  ///< folder for drawings, "" = none; target to draw, "" = the first
};

/// Returns the exit code. Throws UsageError, DataError, FileError, Stopped, ClosedPipe.
int score(const ScoreOptions& options);

}  // namespace molgraph
