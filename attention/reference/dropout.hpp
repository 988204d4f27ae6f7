// Dropout factors and noise as tensors, made of counter-based draws: equal on every machine and in every batch.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "attention/reference/forward_mode.hpp"
#include "attention/reference/layout.hpp"
#include "attention/spec/random.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Makes the factors of one forward pass: 0 where an element is dropped, 1/(1 - p) where not; p as rounded to 16 bits.
/// All results are undefined (no factor) when not training or p = 0.
class DropoutMasks {
 public:
  /// Keeps references to both; they must outlive the object.
  DropoutMasks(const GraphBatch& batch, const AttentionLayout& layout, const ForwardMode& mode,
               const torch::TensorOptions& like);

  /// [grouped tokens, channels], element i*channels + c; padding rows are zero.
  torch::Tensor tokens(int layer, RandomSite site, std::int64_t channels, double p) const;
  /// One per group [H, G, N*N], element (h*n + i)*n + j with n the molecule's own token count; empty = no dropout.
  std::vector<torch::Tensor> attention(int layer, int heads, double p) const;

 private:
  RandomStream stream(std::int64_t molecule, int layer, RandomSite site) const;

  const GraphBatch& batch_;
  const AttentionLayout& layout_;
  ForwardMode mode_;
  torch::TensorOptions like_;
};

/// Factors [B, channels] at a site with one row per molecule (layer 0); undefined when not training or p = 0.
torch::Tensor molecule_dropout(const GraphBatch& batch, std::int64_t channels, RandomSite site, double p,
                               const ForwardMode& mode, const torch::TensorOptions& like);

/// Uniform noise in (-width, width) for every packed token, [tokens, channels], from `site` (element i*channels + c).
/// The rows of token 0 get draws too; zero them where a model leaves the virtual node alone.
torch::Tensor input_noise(const GraphBatch& batch, std::int64_t channels, double width, const ForwardMode& mode,
                          const torch::TensorOptions& like, RandomSite site = RandomSite::input_noise);

}  // namespace molgraph
