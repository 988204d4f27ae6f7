// Dropout factors and noise as tensors from counter-based draws: equal on every machine and in every batch.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "attention/reference/forward_mode.hpp"
#include "attention/reference/layout.hpp"
#include "attention/spec/random.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Computes the dropout factors of one forward pass: 0 for dropped elements, else 1/(1 - p), with p rounded to 16 bits.
/// All results are undefined (no factors) if not in training or if p = 0.
class DropoutMasks {
 public:
  /// Keeps references to both; they must outlive the object.
  DropoutMasks(const GraphBatch& batch, const AttentionLayout& layout, const ForwardMode& mode,
               const torch::TensorOptions& like);

  /// Factors [grouped tokens, channels], element i*channels + c; padding rows are zero.
  torch::Tensor tokens(int layer, RandomSite site, std::int64_t channels, double p) const;
  /// Factors per group [H, G, N*N], element (h*n + i)*n + j, where n is the molecule's token count; empty = no dropout.
  std::vector<torch::Tensor> attention(int layer, int heads, double p) const;

 private:
  RandomStream stream(std::int64_t molecule, int layer, RandomSite site) const;

  const GraphBatch& batch_;
  const AttentionLayout& layout_;
  ForwardMode mode_;
  torch::TensorOptions like_;
};

/// Factors [B, channels] at a site with one row per molecule (layer 0); undefined if not in training or if p = 0.
torch::Tensor molecule_dropout(const GraphBatch& batch, std::int64_t channels, RandomSite site, double p,
                               const ForwardMode& mode, const torch::TensorOptions& like);

/// Uniform noise in (-width, width) for every packed token, [tokens, channels], from `site` (element i*channels + c).
/// The rows of token 0 get noise too; set them to zero if a model has no noise on the virtual node.
torch::Tensor input_noise(const GraphBatch& batch, std::int64_t channels, double width, const ForwardMode& mode,
                          const torch::TensorOptions& like, RandomSite site = RandomSite::input_noise);

}  // namespace molgraph
