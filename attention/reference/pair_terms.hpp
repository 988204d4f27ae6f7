// Calls the function that computes the values of each pair term of spec/terms.hpp.
#pragma once

#include <torch/torch.h>

#include "attention/reference/attention.hpp"
#include "attention/reference/forward_mode.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/terms.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// A batch as the input of pair terms. Values that several terms use are computed once.
class TermInput {
 public:
  /// Keeps references; `like` gives the dtype.
  TermInput(const GraphBatch& molecules, const ForwardMode& mode, const torch::TensorOptions& like)
      : batch(molecules), mode_(mode), like_(like) {}
  /// [tokens, steps] random-walk positions.
  const torch::Tensor& walks(int steps);
  /// [P, vector.size()] vectors of every pair.
  const torch::Tensor& pair_walks(const PairVector& vector);

  const GraphBatch& batch;

 private:
  const ForwardMode& mode_;
  torch::TensorOptions like_;
  torch::Tensor walks_, pair_walks_;
  PairVector pair_vector_;  ///< of `pair_walks_`
};

/// The values that the term adds to every pair.
PairValues pair_values(const PairTerm& term, const ParameterTree& parameters, TermInput& input);

}  // namespace molgraph
