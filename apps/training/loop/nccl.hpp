// Sums numbers over the GPUs of several processes with NVIDIA's NCCL. The library is loaded when the first object is
// created, so the programs can be built and started without it.
#pragma once

#include <cstddef>
#include <memory>

#include "apps/training/loop/processes.hpp"
#include "attention/resident_training.hpp"
#include "attention/spec/device.hpp"

namespace molgraph {

/// The connection between the processes that train one model. Each process has one GPU.
class Nccl {
 public:
  /// All processes must call it, each with its own GPU. Throws DeviceError if libnccl.so.2 cannot be loaded or fails.
  Nccl(Processes& processes, const Device& gpu);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Replaces `size` floats on the GPU with their sums over all processes, bit-identical in all of them. Returns before
  /// it is complete; later work on the stream waits for it.
  void sum(float* values, std::size_t size, DeviceStream stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph
