// What every model of the toolkit offers: a packed batch in, predictions and token states out.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// How to run a model. Random numbers are counter-based: (seed, step, molecule's row, layer, site, ascent,
/// element).
struct ForwardMode {
  bool training = false;          ///< dropout and noise on
  std::uint64_t seed = 0;
  std::uint32_t step = 0;         ///< update step
  std::uint32_t ascent = 0;       ///< of FLAG: the pass within one update step; its draws are others
  torch::Tensor perturbation;     ///< [tokens, C] added to the node input (FLAG); undefined = none
  /// outputs of these blocks (0 = node input, l = after block l, -1 = after the final LayerNorm)
  std::vector<int> keep_layers;
};

struct ModelOutput {
  torch::Tensor scaled;                ///< [B, outputs] the head's raw output (logits, or targets in scaled units)
  torch::Tensor values;                ///< [B, outputs] scaled * target_scale + target_shift: the target's unit, float64
  std::vector<torch::Tensor> layers;   ///< [tokens, C] each, as ForwardMode::keep_layers asks
};

/// Base of Graphormer and GRPE. Buffers `target_shift` (0 at first) and `target_scale` (1) [outputs], both float64, live in
/// the model.
class GraphModel : public torch::nn::Module {
 public:
  virtual ModelOutput run(const GraphBatch& batch, const ForwardMode& mode) = 0;
  /// What the model consists of.
  virtual const ModelPlan& plan() const = 0;
  /// What a batch has to be packed with.
  const PackOptions& pack_options() const { return plan().pack; }
  /// Rescales the head's meaning; regression only. Tensors [outputs].
  void set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale);
  /// ModelOutput::values from ModelOutput::scaled.
  torch::Tensor to_target_unit(const torch::Tensor& scaled) const { return scaled * target_scale_ + target_shift_; }
  /// Names of the parameters without weight decay outside recipes: biases, LayerNorms, gates and tables.
  virtual bool is_decay_exempt(const std::string& parameter_name) const = 0;
  bool is_gate(const std::string& parameter_name) const;

 protected:
  /// To be called once by the derived constructor: registers the buffers `target_shift` (0) and `target_scale` (1).
  void register_target_scaling(int outputs);

  torch::Tensor target_shift_, target_scale_;
};

/// What is_decay_exempt() says of the parts all models share, by name: every "bias", every LayerNorm
/// ("..._norm.weight"), gates ("gate") and the encoder's tables ("spatial", "topology_query" ... "edge_value"). A model
/// adds its own tables.
bool is_shared_decay_exempt(const std::string& parameter_name);

}  // namespace molgraph
