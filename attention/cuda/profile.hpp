// Time per kernel, and notes to the user.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attention/cuda/gpu/runtime.hpp"

namespace molgraph::cuda {

/// Sends a note on what results do not show, each text once, to the receiver set by tell_notes().
void note(const std::string& text);

/// Runs `work` and times every launch, which also prevents launches from overlapping. Returns the times, longest first.
std::vector<KernelTime> profile(Stream stream, const std::function<void()>& work);
bool profiling();  ///< within profile(), on this thread

/// Times one launch. Does nothing outside profile().
class LaunchClock {
 public:
  LaunchClock(Stream stream, const void* kernel);
  /// For a launch by a library: the name of the library function, because its address is not that of a kernel. The
  /// text is not copied.
  LaunchClock(Stream stream, const char* library_call);
  ~LaunchClock();
  LaunchClock(const LaunchClock&) = delete;
  LaunchClock& operator=(const LaunchClock&) = delete;

 private:
  Stream stream_;
};

}  // namespace molgraph::cuda
