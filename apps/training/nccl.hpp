// Sums over the GPUs of several processes: NVIDIA's NCCL, loaded when it is needed, so that nothing depends on it else.
#pragma once

#include <cstddef>
#include <memory>

#include "apps/training/processes.hpp"
#include "attention/cuda/memory.hpp"

namespace molgraph {

/// One GPU per process.
class Nccl {
 public:
  /// All processes call it. Throws DeviceError when there is no libnccl.so.2, or NCCL's own words.
  Nccl(Processes& processes, int gpu);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Replaces `size` floats on the device by their sums over all processes; returns before it is done. Equal bits everywhere.
  void sum(float* values, std::size_t size, cuda::Stream stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph
