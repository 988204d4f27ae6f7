// One call of molgraph-train or molgraph-pretrain, from its flags to the end of the training.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/train/train_call.hpp"

namespace molgraph {

/// The body of a main(), for run_program(): claims the run directory and trains. Returns the exit code; throws as
/// run_training().
int run_train_program(const TrainProgram& program, const std::vector<std::string>& arguments);

}  // namespace molgraph
