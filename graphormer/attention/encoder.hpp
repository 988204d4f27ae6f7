// The stack of attention blocks both models share, as LibTorch modules on the clear reference.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "featurize/graph_batch.hpp"
#include "graphormer/attention/graph_model.hpp"
#include "graphormer/attention/options.hpp"

namespace molgraph {

/// Classes of every packed pair; what the tables are indexed by.
struct RelationClasses {
  torch::Tensor topology;   ///< [P] int64, in [0, topology classes)
  torch::Tensor edge;       ///< [P] int64, in [0, edge classes)
  torch::Tensor forbidden;  ///< [P] bool, true = score is minus infinity; undefined = every pair is allowed
};

/// Layers of attention and FFN over packed tokens, with the relation tables and the gate (models.md section 2).
class EncoderImpl : public torch::nn::Module {
 public:
  /// `topology_classes` T and `edge_classes` E size the tables.
  EncoderImpl(const EncoderOptions& options, int topology_classes, int edge_classes);

  /// x [tokens, C] -> [tokens, C] after the last block and, with pre-LN, the final LayerNorm (token rows all normalised).
  /// `pair_bias` [P, H] is added to b (the edge-path bias); undefined = none.
  /// `kept` receives copies as ForwardMode::keep_layers asks, in its order.
  torch::Tensor forward(torch::Tensor x, const GraphBatch& batch, const RelationClasses& classes,
                        const torch::Tensor& pair_bias, const ForwardMode& mode, std::vector<torch::Tensor>* kept);

  const EncoderOptions& options() const { return options_; }

 private:
  EncoderOptions options_;
  // the rest is private to the attention room
};
TORCH_MODULE(Encoder);

}  // namespace molgraph
