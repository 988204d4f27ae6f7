// A whole model as a LibTorch module: node input, relation classes, encoder, head.
#pragma once

#include <torch/torch.h>

#include <string>

#include "attention/reference/encoder.hpp"
#include "attention/reference/forward_mode.hpp"
#include "attention/reference/node_embedding.hpp"
#include "attention/reference/path_bias.hpp"
#include "attention/reference/task_head.hpp"
#include "attention/spec/model_options.hpp"
#include "attention/spec/parameters.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Node input = embedded atom columns + degrees + noise (in training), each where the options have it; encoder; head on token 0.
/// Parameters have the names and shapes of parameters_of(). Buffers `target_shift` (0 at first) and `target_scale` (1) [outputs], both
/// float64, live in the model.
class GraphModel : public torch::nn::Module {
 public:
  /// Draws initial numbers from LibTorch's generator.
  explicit GraphModel(const ModelOptions& options);

  ModelOutput run(const GraphBatch& batch, const ForwardMode& mode);

  const ModelPlan& plan() const { return plan_; }
  const ParameterList& specs() const { return specs_; }
  /// What a batch has to be packed with.
  const PackOptions& pack_options() const { return plan_.pack; }
  /// Rescales the head's meaning; regression only. Tensors [outputs].
  void set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale);
  /// ModelOutput::values from ModelOutput::scaled.
  torch::Tensor to_target_unit(const torch::Tensor& scaled) const { return scaled * target_scale_ + target_shift_; }
  bool is_decay_exempt(const std::string& parameter_name) const { return !specs_.at(parameter_name).decays(); }
  bool is_gate(const std::string& parameter_name) const { return specs_.at(parameter_name).is_gate(); }

  NodeEmbedding node{nullptr};
  torch::Tensor in_degree, out_degree;   ///< undefined without degrees
  PathBias path{nullptr};                ///< null without ModelOptions::path_bias
  Encoder encoder{nullptr};
  TaskHead head{nullptr};

 private:
  torch::Tensor node_input(const GraphBatch& batch, const ForwardMode& mode);

  ModelPlan plan_;
  ParameterList specs_;
  torch::Tensor target_shift_, target_scale_;
};

}  // namespace molgraph
