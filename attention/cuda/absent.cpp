// Replacement for the CUDA engine in a build without nvcc: every function reports that CUDA is missing.
#include "attention/cuda/cuda_engine.hpp"

namespace molgraph {
namespace cuda {

std::string why_unusable(int) {
  return "this molgraph was built without CUDA (no nvcc was found, or MOLGRAPH_CUDA is OFF)";
}
void use_device(int number) { throw DeviceError(why_unusable(number)); }
void tell_notes(std::function<void(const std::string&)>) {}

}  // namespace cuda

std::unique_ptr<Engine> make_cuda_engine(const ModelPlan&, int number, Precision) {
  throw DeviceError(cuda::why_unusable(number));
}

}  // namespace molgraph
