// The node input that both models share: embedded atom columns, and a vector of its own for the virtual node.
#pragma once

#include <torch/torch.h>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Parameters: atom [sum of atom_dims, C], the tables of all columns one after the other; virtual_node [C].
class NodeEmbeddingImpl : public torch::nn::Module {
 public:
  NodeEmbeddingImpl(Features features, int width);
  /// [tokens, C]: token 0 of each molecule is virtual_node, an atom the sum of its columns' rows plus `extra` [A, C],
  /// if defined.
  torch::Tensor forward(const GraphBatch& batch, const torch::Tensor& extra = {});

  torch::Tensor atom, virtual_node;

 private:
  Features features_;
};
TORCH_MODULE(NodeEmbedding);

/// [B] int64: packed index of each molecule's token 0.
torch::Tensor virtual_tokens(const GraphBatch& batch);

}  // namespace molgraph
