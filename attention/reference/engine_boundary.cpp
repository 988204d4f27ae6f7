#include "attention/reference/engine_boundary.hpp"

namespace molgraph {

using torch::Tensor;

EngineBoundary::EngineBoundary(GraphModel& model, const Device& device, Precision precision)
    : model_(model), engine_(make_engine(model.plan(), device, precision)) {}

void EngineBoundary::refresh(Loaded required) {
  if (loaded_ >= required) return;  // weights loaded for training also work for prediction
  engine_->assign(
      [this](const std::string& name) {
        const Tensor& parameter = model_[name];
        TORCH_CHECK(parameter.is_contiguous(), "the parameter ", name, " is not contiguous");
        return parameter.const_data_ptr<float>();
      },
      required == Loaded::for_training);
  loaded_ = required;
}

Engine& EngineBoundary::engine() {
  refresh(Loaded::for_training);
  return *engine_;
}

ResidentTraining* EngineBoundary::resident() { return engine_->resident() != nullptr ? engine().resident() : nullptr; }

ModelOutput EngineBoundary::predict(const GraphBatch& batch, const std::vector<int>& keep_layers) {
  torch::NoGradGuard no_grad;
  refresh(Loaded::for_prediction);
  ModelOutput output;
  output.scaled = torch::empty({batch.size(), static_cast<std::int64_t>(engine_->outputs())});
  std::vector<KeptStates> kept;
  for (const int layer : keep_layers) {
    output.layers.push_back(torch::empty({batch.num_tokens(), model_.plan().encoder.width}));
    kept.push_back({layer, output.layers.back().data_ptr<float>()});
  }
  engine_->predict(batch, output.scaled.data_ptr<float>(), kept);
  output.values = model_.to_target_unit(output.scaled);
  return output;
}

Tensor EngineBoundary::train(const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope, Tensor* dinput) {
  torch::NoGradGuard no_grad;
  refresh(Loaded::for_training);
  const auto gradients = [&](const std::string& name) -> float* {
    const Tensor& parameter = model_[name];
    if (!parameter.requires_grad()) return nullptr;
    if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    return parameter.mutable_grad().data_ptr<float>();
  };
  const int width = model_.plan().encoder.width;
  Tensor scaled = torch::empty({batch.size(), static_cast<std::int64_t>(engine_->outputs())});
  const Tensor perturbation = mode.perturbation.defined() ? mode.perturbation.contiguous() : Tensor();
  TORCH_CHECK(!perturbation.defined() || perturbation.numel() == batch.num_tokens() * width,
              "the perturbation does not have the shape [tokens of the batch, C]");
  if (dinput != nullptr) *dinput = torch::empty({batch.num_tokens(), width});
  engine_->gradients(batch, {mode.training, mode.seed, mode.step, mode.ascent}, slope, scaled.data_ptr<float>(),
                     gradients, perturbation.defined() ? perturbation.const_data_ptr<float>() : nullptr,
                     dinput != nullptr ? dinput->data_ptr<float>() : nullptr);
  return scaled;
}

}  // namespace molgraph
