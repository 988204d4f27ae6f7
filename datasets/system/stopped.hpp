// Termination by a signal.
#pragma once

namespace molgraph {

/// Thrown after a signal (SIGINT, SIGTERM) when the work has been saved as far as possible.
struct Stopped {
  int signal;
};

}  // namespace molgraph
