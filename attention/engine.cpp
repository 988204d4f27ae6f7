#include "attention/engine.hpp"

#include <stdexcept>

#include "attention/cpu/model.hpp"
#include "attention/cuda/model.hpp"

namespace molgraph {
namespace {

/// The CUDA engine's own interface as an Engine.
class CudaEngine final : public Engine {
 public:
  CudaEngine(const ModelPlan& plan, int number, Precision precision)
      : pack_(plan.pack), model_(cuda::make_model(plan, static_cast<cuda::Math>(precision), number)) {
    pack_.paths = false;   // the device finds them itself
  }
  std::size_t outputs() const override { return model_->outputs(); }
  PackOptions pack_options() const override { return pack_; }
  std::int64_t pairs_per_call() const override { return 1 << 20; }
  void assign(const TensorLookup& tensors, bool) override { model_->assign(tensors); }
  void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept) override { model_->predict(batch, scaled, kept); }
  void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled, const GradientLookup& gradients,
                 const float* perturbation, float* dinput) override {
    model_->gradients(batch, random, loss, scaled, gradients, perturbation, dinput);
  }

 private:
  PackOptions pack_;
  std::unique_ptr<cuda::Model> model_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const ModelPlan& plan, const Device& device, Precision precision) {
  switch (device.kind) {
    case Device::Kind::cpu: return make_cpu_engine(plan, device.threads, precision);
    case Device::Kind::cuda: return std::make_unique<CudaEngine>(plan, device.number, precision);
  }
  throw std::invalid_argument("a device of no kind");
}

std::string why_unusable(const Device& device, Precision precision) {
  switch (device.kind) {
    case Device::Kind::cpu: return cpu::why_unusable(precision);
    case Device::Kind::cuda: return cuda::why_unusable(device.number);
  }
  throw std::invalid_argument("a device of no kind");
}

}  // namespace molgraph
