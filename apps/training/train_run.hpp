// One call of molgraph-train: data -> model -> training -> evaluation -> report.
#pragma once

#include <memory>
#include <string>

#include "apps/training/option_conflicts.hpp"
#include "apps/training/processes.hpp"
#include "apps/training/train_options.hpp"

namespace molgraph {

struct TrainRun {
  TrainOptions options;
  NamedFlags named;          ///< what stands on the command line
  std::string folder;        ///< the run directory, claimed by the first process
  int threads = 0;           ///< 0 = all usable cores
  int gpu = -1;              ///< number of the GPU that computes; -1 = the CPU
  bool resume = false;
  std::shared_ptr<Processes> processes = std::make_shared<Processes>();   ///< all of which make this call
};

/// Trains one model, or `ensemble_size` of them in folder/model_0, model_1, ..., writes the run directory and prints the
/// table of results to stdout; of several processes, the first does. Throws UsageError, DataError, FileError, Stopped.
void run_training(const TrainRun& run);

}  // namespace molgraph
