// The bias P_Q(i).P_K(j) of tokens' places (Chen et al. 2021, eq. 1) without LibTorch: absolute_encodings.hpp has it.
#pragma once

#include <string>
#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "attention/cpu/pack.hpp"

namespace molgraph::cpu {

class AbsoluteBias {
 public:
  AbsoluteBias(std::size_t heads, std::size_t walk_steps);
  std::vector<TensorSpec> tensors() const;
  /// Names as in the module: query_row, key_row, query_walk, key_walk.
  void assign(const TensorLookup& tensors);
  void add_gradients(const float* flat, const GradientLookup& gradients) const;
  std::size_t gradient_size() const { return 2 * side_; }

  /// Adds to `bias` [pairs, H]. `walks` [tokens of the pack, steps].
  void add_bias(const GraphBatch& batch, const Pack& pack, const float* walks, float* bias) const;
  /// `slope` [pairs, H]; adds to `flat` [gradient_size()].
  void gradient(const GraphBatch& batch, const Pack& pack, const float* walks, const float* slope, float* flat) const;

 private:
  void factors(const GraphBatch& batch, const Pack& pack, const float* walks, std::size_t side, std::vector<float>& out) const;
  void factors_gradient(const GraphBatch& batch, const Pack& pack, const float* walks, const std::vector<float>& slope,
                        float* flat) const;

  std::size_t heads_, padded_, steps_, width_, side_;   ///< width heads*64; side: rows and walk of query or key
  std::vector<float> flat_;                             ///< query_row, query_walk, key_row, key_walk
};

/// Row of a token in query_row and key_row: by degree, capped; the virtual node's is the last.
std::vector<std::size_t> absolute_rows(const GraphBatch& batch, const Pack& pack);

}  // namespace molgraph::cpu
