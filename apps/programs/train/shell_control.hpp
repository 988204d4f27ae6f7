// Control of a training run from a program: signals stop it, messages go to the log, progress to the terminal and
// results to standard output.
#pragma once

#include "apps/training/loop/run_control.hpp"

namespace molgraph {

RunControl shell_control();

}  // namespace molgraph
