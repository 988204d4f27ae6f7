// One run of molgraph-train: data -> model -> training -> evaluation -> report.
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
  NamedFlags named;        ///< flags on the command line
  std::string folder;      ///< the run directory, claimed by the first process
  std::string program;     ///< program name in run.json: "molgraph 0.1.0"
  int threads = 0;         ///< 0 = all usable cores
  std::optional<int> gpu;  ///< GPU number; empty = CPU
  bool resume = false;
  std::vector<std::string> found_targets{};  ///< targets of the resumed run if --target-columns is not set
  std::shared_ptr<Processes> processes = std::make_shared<Processes>();  ///< all of them call run_training()
  RunControl control;
};

/// Trains one model, or `ensemble_size` models in folder/model_0, model_1, .... The first process writes the run
/// directory and reports the table of results. Throws UsageError, DataError, FileError, Stopped.
void run_training(const TrainRun& run);

}  // namespace molgraph
