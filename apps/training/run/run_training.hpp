// One run of molgraph-train: data -> model -> training -> evaluation -> report.
#pragma once

#include "apps/training/run/train_run.hpp"

namespace molgraph {

/// Trains one model, or `ensemble_size` models in folder/model_0, model_1, .... The first process writes the run
/// directory and reports the table of results. Throws UsageError, DataError, FileError, Stopped.
void run_training(const TrainRun& run);

}  // namespace molgraph
