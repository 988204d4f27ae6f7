// A run of molgraph-train or molgraph-pretrain, from the command line to the end of the training.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/train/train_call.hpp"

namespace molgraph {

/// Claims the run directory and trains; the body of run_program(). Returns the exit code. Throws the same errors as
/// run_training().
int run_train_program(const TrainProgram& program, const std::vector<std::string>& arguments);

}  // namespace molgraph
