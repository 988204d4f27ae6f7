// Replaces gpu.cpp in a build without nvcc.
#include "attention/cuda/cuda_engine.hpp"
#include "tests/bench/gpu.hpp"

namespace molgraph::bench {

void measure_gpu(const GpuOptions& options, const std::vector<Case>&, const MoleculeSet&,
                 const std::vector<std::int64_t>&, const std::function<void(const nlohmann::json&)>&) {
  throw DeviceError(cuda::why_unusable(options.number));
}

}  // namespace molgraph::bench
