// One call of molgraph-train: data -> model -> training -> evaluation -> report.
#pragma once

#include <string>

#include "apps/train_options.hpp"

namespace molgraph {

struct TrainRun {
  TrainOptions options;
  std::string folder;        ///< the run directory
  int threads = 0;           ///< 0 = all usable cores
  int gpu = -1;              ///< number of the GPU that computes; -1 = the CPU
  bool resume = false;
};

/// Trains one model, or `ensemble_size` of them in folder/model_0, model_1, ..., writes the run directory and prints the
/// table of results to stdout. Throws UsageError, DataError, FileError, Stopped.
void run_training(const TrainRun& run);

}  // namespace molgraph
