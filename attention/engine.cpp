#include "attention/engine.hpp"

#include <stdexcept>
#include <utility>

#include "attention/cpu/model.hpp"
#include "attention/cuda/cuda_engine.hpp"

namespace molgraph {

std::unique_ptr<Engine> make_engine(const ModelPlan& plan, const Device& device, Precision precision) {
  if (const std::string why = why_unusable(device, plan.encoder); !why.empty()) throw DeviceError(why);
  switch (device.kind) {
    case Device::Kind::cpu: return make_cpu_engine(plan, device.threads, precision);
    case Device::Kind::cuda: return make_cuda_engine(plan, device.number, precision);
  }
  throw std::invalid_argument("unknown kind of device");
}

std::string why_unusable(const Device& device, Precision precision) {
  switch (device.kind) {
    case Device::Kind::cpu: return cpu::why_unusable(precision);
    case Device::Kind::cuda: return cuda::why_unusable(device.number);
  }
  throw std::invalid_argument("unknown kind of device");
}

std::string why_unusable(const Device& device, const EncoderOptions& encoder) {
  return device.is_gpu() && encoder.pair_state > 0 ? "models with pair states (--pair-state) run on the CPU only" : "";
}

UsedPrecision used_precision(const Device& device, Precision requested) {
  return device.kind == Device::Kind::cpu ? cpu::used_precision(requested) : UsedPrecision{.precision = requested};
}

void use_device(const Device& device) {
  if (device.kind == Device::Kind::cuda) cuda::use_device(device.number);
}

void tell_notes(std::function<void(const std::string&)> to) { cuda::tell_notes(std::move(to)); }

}  // namespace molgraph
