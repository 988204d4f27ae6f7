#include "graphormer/attention/task_head.hpp"

namespace molgraph {

TaskHeadImpl::TaskHeadImpl(int width, int outputs, int last_mlp_layers) {
  last_mlp = register_module("last_mlp", torch::nn::ModuleList());
  for (int k = 0; k < last_mlp_layers; ++k)
    last_mlp->push_back(torch::nn::Sequential(torch::nn::Linear(width, width), torch::nn::GELU()));
  linear = register_module("linear", torch::nn::Linear(width, outputs));
}

torch::Tensor TaskHeadImpl::forward(torch::Tensor graph) {
  for (const auto& layer : *last_mlp) graph = layer->as<torch::nn::Sequential>()->forward(graph);
  return linear->forward(graph);
}

}  // namespace molgraph
