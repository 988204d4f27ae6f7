// Callbacks through which readers report messages and can be stopped.
#pragma once

#include <functional>
#include <string>

namespace molgraph {

/// Callbacks of a reader; each may be empty. They are called in the thread that reads.
struct ReadingHooks {
  /// Receives one line that names the input: a decision to report or, if `warning`, a problem. Repeated each time the
  /// input is opened.
  std::function<void(const std::string& text, bool warning)> log;
  /// Called at least once per MiB of text, and ten times a second while waiting for input. An exception that it throws
  /// ends the reading.
  std::function<void()> check_stop;
};

}  // namespace molgraph
