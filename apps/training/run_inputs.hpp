// What a run begins with: its data, and perhaps the weights of another run.
#pragma once

#include <optional>
#include <string>

#include "apps/scoring/model_config.hpp"
#include "apps/training/train_run.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// The run that --from names.
struct StartingPoint {
  std::string file;
  ModelConfig config;
};
/// Nothing without --from. Throws FileError; UsageError if --features contradict it.
std::optional<StartingPoint> starting_point(const TrainOptions& options);

/// The data of the run's options, with what people should know of them. `start`: its tables may lack rows for some
/// molecules, which are rejected then. All processes call it and load at once, but a named data set may have to be
/// downloaded: by one process of a machine.
LoadedData load_run_data(const TrainRun& run, const std::optional<StartingPoint>& start);

}  // namespace molgraph
