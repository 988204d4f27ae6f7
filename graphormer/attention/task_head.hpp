// From the virtual node's final state to the task's outputs.
#pragma once

#include <torch/torch.h>

namespace molgraph {

/// `last_mlp` times (Linear C x C, exact GELU), then one Linear C -> outputs. GRPE's optional tail (models.md section
/// 6); the embedding of a molecule is what goes in here. Parameters: last_mlp.K.0.weight, last_mlp.K.0.bias,
/// linear.weight, linear.bias.
class TaskHeadImpl : public torch::nn::Module {
 public:
  TaskHeadImpl(int width, int outputs, int last_mlp = 0);
  /// [B, C] -> [B, outputs]
  torch::Tensor forward(torch::Tensor graph);

  torch::nn::ModuleList last_mlp{nullptr};   ///< empty without the tail
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(TaskHead);

}  // namespace molgraph
