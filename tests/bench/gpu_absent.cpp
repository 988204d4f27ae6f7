// Instead of gpu.cpp in a build without nvcc.
#include "graphormer/attention/cuda/model.hpp"
#include "tests/bench/gpu.hpp"

namespace molgraph::bench {

nlohmann::json measure_gpu(int number, const std::vector<Case>&, const MoleculeSet&, const std::vector<std::int64_t>&, int, double, int) {
  throw cuda::DeviceError(cuda::why_unusable(number));
}

}  // namespace molgraph::bench
