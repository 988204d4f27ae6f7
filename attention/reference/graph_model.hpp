// A whole model as a LibTorch module: node input, relation classes, encoder, head.
#pragma once

#include <torch/torch.h>

#include "attention/reference/forward_mode.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/model_options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// The parameters are those of parameters_of(). Buffers `target_shift` (0 at first) and `target_scale` (1) [outputs],
/// both float64, live in the model.
class GraphModel : public ParameterTree {
 public:
  /// Draws initial numbers from LibTorch's generator: all parameters' in the list's order, then those that
  /// Architecture::initial wants otherwise in the order of named_parameters().
  explicit GraphModel(const ModelOptions& options);

  ModelOutput run(const GraphBatch& batch, const ForwardMode& mode) const;

  const ModelPlan& plan() const { return plan_; }
  /// What a batch has to be packed with.
  const PackOptions& pack_options() const { return plan_.pack; }
  /// Rescales the head's meaning; regression only. Tensors [outputs].
  void set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale);
  /// ModelOutput::values from ModelOutput::scaled.
  torch::Tensor to_target_unit(const torch::Tensor& scaled) const { return scaled * target_scale_ + target_shift_; }

 private:
  ModelPlan plan_;
  torch::Tensor target_shift_, target_scale_;
};

}  // namespace molgraph
