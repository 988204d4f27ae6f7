// A whole model as a LibTorch module: node input, relation classes, encoder, head.
#pragma once

#include <torch/torch.h>

#include "attention/reference/forward_mode.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/model_options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Its parameters are those of parameters_of(). Its buffers are `target_shift` (initially 0) and `target_scale`
/// (initially 1), both [outputs], float64.
class GraphModel : public ParameterTree {
 public:
  /// Draws initial values from LibTorch's generator: first for all parameters in the list's order, then again for those
  /// that Architecture::initial overrides, in the order of named_parameters().
  explicit GraphModel(const ModelOptions& options);

  ModelOutput run(const GraphBatch& batch, const ForwardMode& mode) const;

  const ModelPlan& plan() const { return plan_; }
  /// Options for packing batches.
  const PackOptions& pack_options() const { return plan_.pack; }
  /// Sets the conversion from raw outputs to the target's unit; regression only. Tensors [outputs].
  void set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale);
  /// ModelOutput::values from ModelOutput::scaled.
  torch::Tensor to_target_unit(const torch::Tensor& scaled) const { return scaled * target_scale_ + target_shift_; }

 private:
  ModelPlan plan_;
  torch::Tensor target_shift_, target_scale_;
};

}  // namespace molgraph
