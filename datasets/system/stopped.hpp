// The end of work that somebody asked to stop.
#pragma once

namespace molgraph {

/// Thrown where work has saved what it could after a signal (SIGINT, SIGTERM) asked for an end.
struct Stopped {
  int signal;
};

}  // namespace molgraph
