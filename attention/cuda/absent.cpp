// The CUDA engine of a build without nvcc: there is none, and it says so.
#include "attention/cuda/model.hpp"

namespace molgraph::cuda {

std::string why_unusable(int) { return "this molgraph was built without CUDA (no nvcc was found, or MOLGRAPH_CUDA is OFF)"; }
void tell_notes(std::function<void(const std::string&)>) {}
void use_device(int number) { throw DeviceError(why_unusable(number)); }
std::unique_ptr<Model> make_model(const ModelPlan&, Math, int number) { throw DeviceError(why_unusable(number)); }

}  // namespace molgraph::cuda
