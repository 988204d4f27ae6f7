// States of pairs of tokens (attention/spec/pair_states.hpp) on the padded groups of the layout.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "attention/reference/layout.hpp"
#include "attention/reference/parameter_tree.hpp"

namespace molgraph {

/// States of all pairs between two layers, and the parameters of the layer that reads them and adds to them. S: width
/// of a state. Groups have G molecules of N tokens.
struct PairStates {
  std::vector<torch::Tensor> e;  ///< per group [G, N*N, S]; empty = no states
  torch::Tensor bias;            ///< [H, S]
  torch::Tensor value;           ///< [H, S, d]
  torch::Tensor update;          ///< [S, 2H]; undefined: the layer does not change the states
  torch::Tensor update_bias;     ///< [S]

  /// Sets the parameters of the layer `owner` ("encoder.layers.K.").
  void load(const ParameterTree& parameters, const std::string& owner);
  /// b_ij of group g, [H, G, N*N].
  torch::Tensor bias_of(std::size_t g) const;
  /// The states' part of z of group g, [H, G*N, d]; weights w [H, G, N*N].
  torch::Tensor values_of(const torch::Tensor& weights, const TokenGroup& group, std::size_t g) const;
  /// Adds scores and softmax [H, G, N*N] of the layer to the states of group g. Masked scores count as 0.
  void add(const torch::Tensor& scores, const torch::Tensor& softmax, const TokenGroup& group, std::size_t g);
};

/// The states before the first layer. `vectors` [P, columns]: the pairs' vectors, or undefined.
PairStates first_pair_states(const ParameterTree& parameters, const std::string& prefix, const AttentionLayout& layout,
                             const torch::Tensor& vectors);

}  // namespace molgraph
