// A training under the shell: signals stop it, its notes go to the log, its progress to the terminal, its results to
// standard output.
#pragma once

#include "apps/training/run_control.hpp"

namespace molgraph {

RunControl shell_control();

}  // namespace molgraph
