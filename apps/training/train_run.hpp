// One run: data -> model -> training -> evaluation -> report. What one call of molgraph-train does.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/training/option_conflicts.hpp"
#include "apps/training/processes.hpp"
#include "apps/training/run_control.hpp"
#include "apps/training/train_options.hpp"

namespace molgraph {

struct TrainRun {
  TrainOptions options;
  NamedFlags named;        ///< what stands on the command line
  std::string folder;      ///< the run directory, claimed by the first process
  std::string program;     ///< who trains, for the run's record: "molgraph 0.1.0"
  int threads = 0;         ///< 0 = all usable cores
  std::optional<int> gpu;  ///< number of the GPU that computes; empty = the CPU
  bool resume = false;
  std::vector<std::string> found_targets{};  ///< of the run to go on with, where nobody named them
  std::shared_ptr<Processes> processes = std::make_shared<Processes>();  ///< all of which make this call
  RunControl control;
};

/// Trains one model, or `ensemble_size` of them in folder/model_0, model_1, ..., writes the run directory and reports
/// the table of results; of several processes, the first does. Throws UsageError, DataError, FileError, Stopped.
void run_training(const TrainRun& run);

}  // namespace molgraph
