#include "attention/reference/task_head.hpp"

namespace molgraph {

TaskHeadImpl::TaskHeadImpl(int width, int outputs, const HeadOptions& options) {
  last_mlp = register_module("last_mlp", torch::nn::ModuleList());
  for (int k = 0; k < options.last_mlp; ++k)
    last_mlp->push_back(torch::nn::Sequential(torch::nn::Linear(width, width), torch::nn::GELU()));
  if (options.transform) {
    transform = register_module("transform", torch::nn::Linear(width, width));
    transform_norm = register_module("transform_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  }
  linear = register_module("linear", torch::nn::Linear(width, outputs));
}

torch::Tensor TaskHeadImpl::forward(torch::Tensor graph) {
  for (const auto& layer : *last_mlp) graph = layer->as<torch::nn::Sequential>()->forward(graph);
  if (transform) graph = transform_norm->forward(torch::gelu(transform->forward(graph)));
  return linear->forward(graph);
}

}  // namespace molgraph
