// How readers of text speak to the program that reads, and how it can end them.
#pragma once

#include <functional>
#include <string>

namespace molgraph {

/// What reading calls; each may be empty. Whoever reads in a thread of its own is called there.
struct ReadingHooks {
  /// A decision that people may want to know of, or (`warning`) something odd: one line that names the input. Comes
  /// again whenever the input is opened again.
  std::function<void(const std::string& text, bool warning)> say;
  /// Called at least once per MiB of text, and ten times a second while input is awaited; what it throws ends the
  /// reading.
  std::function<void()> look;
};

}  // namespace molgraph
