// Inputs of a run: its data, and the weights of another run with --from.
#pragma once

#include <optional>
#include <string>

#include "apps/scoring/model_config.hpp"
#include "apps/training/run/train_run.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// The run given with --from.
struct StartingPoint {
  std::string file;
  ModelConfig config;
};
/// Returns nothing without --from. Throws FileError, and UsageError if --features or --standardize contradict the run.
std::optional<StartingPoint> starting_point(const TrainOptions& options);

/// Loads the data of the run's options and logs a summary, notes and warnings. `start`: molecules for which its
/// embedding tables have no rows are rejected. All processes call it. They load at the same time, except for a named
/// data set, which one process per machine loads first because it may have to be downloaded.
LoadedData load_run_data(const TrainRun& run, const std::optional<StartingPoint>& start);

}  // namespace molgraph
