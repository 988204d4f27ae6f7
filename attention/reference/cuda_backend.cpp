#include "attention/reference/cuda_backend.hpp"

namespace molgraph::cuda {

Backend::Backend(GraphModel& model, Precision precision, int device)
    : model_(model), engine_(make_cuda_engine(model.plan(), device, precision)) {
  for (const auto& item : model.named_parameters()) parameters_.emplace(item.key(), item.value());
}

TensorLookup Backend::lookup() const {
  return [this](const std::string& name) -> const float* {
    const auto found = parameters_.find(name);
    TORCH_CHECK(found != parameters_.end() && found->second.is_contiguous(), "the engine found no tensor ", name);
    return found->second.const_data_ptr<float>();
  };
}

Engine& Backend::engine() {
  if (!fresh_) engine_->assign(lookup(), true);
  fresh_ = true;
  return *engine_;
}

void Backend::fetch_weights() {
  torch::NoGradGuard no_grad;
  engine_->resident()->read([this](const std::string& name) { return parameters_.at(name).data_ptr<float>(); });
}

ModelOutput Backend::predict(const GraphBatch& batch, const std::vector<int>& keep_layers) {
  torch::NoGradGuard no_grad;
  ModelOutput output;
  output.scaled = torch::empty({batch.size(), static_cast<std::int64_t>(engine_->outputs())});
  std::vector<KeptStates> kept;
  for (const int layer : keep_layers) {
    output.layers.push_back(torch::empty({batch.num_tokens(), model_.plan().encoder.width}));
    kept.push_back({layer, output.layers.back().data_ptr<float>()});
  }
  engine().predict(batch, output.scaled.data_ptr<float>(), kept);
  output.values = model_.to_target_unit(output.scaled);
  return output;
}

torch::Tensor Backend::train(const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope, torch::Tensor* dinput) {
  torch::NoGradGuard no_grad;
  const auto gradients = [&](const std::string& name) -> float* {
    torch::Tensor& parameter = parameters_.at(name);
    if (!parameter.requires_grad()) return nullptr;
    if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    return parameter.mutable_grad().data_ptr<float>();
  };
  const torch::Tensor scaled = torch::empty({batch.size(), static_cast<std::int64_t>(engine_->outputs())});
  const torch::Tensor perturbation = mode.perturbation.defined() ? mode.perturbation.contiguous() : torch::Tensor();
  TORCH_CHECK(!perturbation.defined() || perturbation.numel() == batch.num_tokens() * model_.plan().encoder.width, "the perturbation is not that of the batch's tokens");
  if (dinput != nullptr) *dinput = torch::empty({batch.num_tokens(), model_.plan().encoder.width});
  engine().gradients(batch, {mode.training, mode.seed, mode.step, mode.ascent}, slope, scaled.data_ptr<float>(), gradients,
                     perturbation.defined() ? perturbation.const_data_ptr<float>() : nullptr,
                     dinput != nullptr ? dinput->data_ptr<float>() : nullptr);
  return scaled;
}

}  // namespace molgraph::cuda
