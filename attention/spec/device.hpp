// The processor that a model is computed on.
#pragma once

#include <cstdint>

namespace molgraph {

/// The CPU with `threads` threads (at least one), or NVIDIA GPU `number`.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda } kind = Kind::cpu;
  int number = 0;
  int threads = 1;

  bool is_gpu() const { return kind == Kind::cuda; }
  static Device gpu(int number) { return {.kind = Kind::cuda, .number = number}; }
};

}  // namespace molgraph
