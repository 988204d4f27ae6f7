// A LibTorch model on GPU 0 or on the emulated GPU, for tests.
#pragma once

#include "attention/cuda/cuda_engine.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "attention/resident_training.hpp"

namespace molgraph::test {

class GpuModel : public EngineBoundary {
 public:
  explicit GpuModel(GraphModel& model, Precision precision = Precision::fp32)
      : EngineBoundary(model, {.kind = Device::Kind::cuda}, precision), model_(model) {}
  ResidentTraining& resident() { return *EngineBoundary::resident(); }
  /// Writes the device's weights into the module.
  void fetch_weights() {
    resident().read([this](const std::string& name) { return model_[name].data_ptr<float>(); });
  }

 private:
  GraphModel& model_;
};

}  // namespace molgraph::test
