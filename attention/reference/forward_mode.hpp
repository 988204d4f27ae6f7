// Settings and results of a model's forward pass.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace molgraph {

/// Random numbers are counter-based: (seed, step, molecule's row, layer, site, ascent, element).
struct ForwardMode {
  bool training = false;  ///< turns dropout and noise on
  std::uint64_t seed = 0;
  std::uint32_t step = 0;      ///< update step
  std::uint32_t ascent = 0;    ///< FLAG's pass within one update step; each pass has its own draws
  torch::Tensor perturbation;  ///< [tokens, C] added to the node input (FLAG); undefined = none
  /// layers whose states to return (0 = node input, l = after block l, -1 = after the final LayerNorm)
  std::vector<int> keep_layers;
};

struct ModelOutput {
  torch::Tensor scaled;  ///< [B, outputs] the head's raw output (logits, or targets in scaled units)
  torch::Tensor values;  ///< [B, outputs] scaled * target_scale + target_shift, in the target's unit; float64
  std::vector<torch::Tensor> layers;  ///< [tokens, C] each, in the order of ForwardMode::keep_layers
};

}  // namespace molgraph
