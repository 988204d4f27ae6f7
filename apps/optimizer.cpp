#include "apps/optimizer.hpp"

namespace molgraph {
namespace {

using AdamState = torch::optim::AdamWParamState;

}  // namespace

Optimizer::Optimizer(torch::nn::Module& module, const std::function<bool(const std::string&)>& decay_exempt,
                     double weight_decay) {
  std::vector<torch::Tensor> decayed, exempt;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    (decay_exempt(item.key()) ? exempt : decayed).push_back(item.value());
  }
  const auto group = [](const std::vector<torch::Tensor>& parameters, double decay) {
    return torch::optim::OptimizerParamGroup(
        parameters, std::make_unique<torch::optim::AdamWOptions>(torch::optim::AdamWOptions().weight_decay(decay)));
  };
  adamw_ = std::make_unique<torch::optim::AdamW>(
      std::vector<torch::optim::OptimizerParamGroup>{group(decayed, weight_decay), group(exempt, 0.0)});
  for (const auto& parameter : parameters_) {  // present from the start, so that a checkpoint can be read into it
    auto state = std::make_unique<AdamState>();
    state->step(0);
    state->exp_avg(torch::zeros_like(parameter));
    state->exp_avg_sq(torch::zeros_like(parameter));
    adamw_->state()[parameter.unsafeGetTensorImpl()] = std::move(state);
  }
}

void Optimizer::zero_grad() { adamw_->zero_grad(); }

void Optimizer::step(double learning_rate, double clip) {
  if (clip > 0) torch::nn::utils::clip_grad_norm_(parameters_, clip);
  for (auto& group : adamw_->param_groups()) group.options().set_lr(learning_rate);
  adamw_->step();
}

void Optimizer::append_state(NamedTensors& tensors) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& state = static_cast<const AdamState&>(*adamw_->state().at(parameters_[i].unsafeGetTensorImpl()));
    tensors.emplace_back("adam.m." + names_[i], state.exp_avg());
    tensors.emplace_back("adam.v." + names_[i], state.exp_avg_sq());
  }
}

void Optimizer::set_updates(std::int64_t updates) {
  for (const auto& parameter : parameters_) {
    static_cast<AdamState&>(*adamw_->state().at(parameter.unsafeGetTensorImpl())).step(updates);
  }
}

WeightAverage::WeightAverage(torch::nn::Module& module, double decay) : decay_(decay) {
  if (decay_ == 0) return;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    averages_.push_back(item.value().detach().clone());
  }
}

void WeightAverage::update() {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < averages_.size(); ++i) averages_[i].lerp_(parameters_[i].detach(), 1.0 - decay_);
}

void WeightAverage::swap() {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const torch::Tensor weights = parameters_[i].detach().clone();
    parameters_[i].copy_(averages_[i]);
    averages_[i].copy_(weights);
  }
}

void WeightAverage::append_state(NamedTensors& tensors) const {
  for (std::size_t i = 0; i < averages_.size(); ++i) tensors.emplace_back("ema." + names_[i], averages_[i]);
}

}  // namespace molgraph
