// Identity of a training run. A checkpoint with other options or data cannot be resumed.
#pragma once

#include <string>

#include "apps/training/options/train_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// The options that determine the model, the data, and the molecules and labels of each set of `split`.
std::string identity_of(const TrainOptions& options, const LoadedData& data, const Split& split);

}  // namespace molgraph
