// From the virtual node's final state to the task's outputs.
#pragma once

#include <torch/torch.h>

#include "attention/spec/head_options.hpp"

namespace molgraph {

/// The tail, then one Linear C -> outputs. The embedding of a molecule is what goes in here. Parameters:
/// last_mlp.K.0.{weight,bias}, transform.{weight,bias}, transform_norm.{weight,bias}, linear.{weight,bias}.
class TaskHeadImpl : public torch::nn::Module {
 public:
  TaskHeadImpl(int width, int outputs, const HeadOptions& options = {});
  /// [B, C] -> [B, outputs]
  torch::Tensor forward(torch::Tensor graph);

  torch::nn::ModuleList last_mlp{nullptr};        ///< empty without the tail
  torch::nn::Linear transform{nullptr};           ///< null if off
  torch::nn::LayerNorm transform_norm{nullptr};
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(TaskHead);

}  // namespace molgraph
