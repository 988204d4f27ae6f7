// The measured peak rates of this machine.
#pragma once

#include <chrono>
#include <string>

namespace molgraph::bench {

using Clock = std::chrono::steady_clock;

/// Seconds from `start` to now.
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Machine {
  std::string processor, instruction_set;
  int threads = 1;
  double gemm_gflops = 0;                        ///< the engine's product [112, 80] x [80, 80], all threads
  double wide_gemm_gflops = 0;                   ///< the same for [512, 768] x [768, 768]
  double bf16_gflops = 0, wide_bf16_gflops = 0;  ///< the same with bfloat16 factors; 0 = not supported
  double copy_gbps = 0;  ///< bytes read and written per second by copies larger than the caches, all threads
};

Machine measure_machine(int threads);

}  // namespace molgraph::bench
