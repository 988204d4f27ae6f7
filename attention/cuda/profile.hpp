// How long each kernel takes, and what is to be told beside results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attention/cuda/gpu/runtime.hpp"

namespace molgraph::cuda {

/// Says what no result shows: each text once, to whom tell_notes() names.
void note(const std::string& text);

/// Runs `work` with a clock around every launch, which also keeps launches from overlapping. Longest first.
std::vector<KernelTime> profile(Stream stream, const std::function<void()>& work);

/// Around every launch; does nothing outside profile().
class LaunchClock {
 public:
  LaunchClock(Stream stream, const void* kernel);
  /// Of what a library launches: its function's name, for its address is no kernel's. Not copied.
  LaunchClock(Stream stream, const char* library_call);
  ~LaunchClock();
  LaunchClock(const LaunchClock&) = delete;
  LaunchClock& operator=(const LaunchClock&) = delete;

 private:
  Stream stream_;
};

}  // namespace molgraph::cuda
