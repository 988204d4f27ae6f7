// Graphormer's multi-hop edge-path bias (Ying et al. 2021, eq. 7; docs/formula.md section 3).
#pragma once

#include <torch/torch.h>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// For atoms i, j with path bonds c_1 .. c_m: path_ij = (1/m') sum over p = 1..m' of Ebar[c_p] W[p],
/// m' = min(m, max_hops), with Ebar[c] the mean of the embeddings of the bond's columns. Zero for i = j, unreachable
/// pairs and pairs with token 0.
///
/// The published code evaluates every hop of every pair, O(n^2 max_hops H^2). Here T[p][bond id] = Ebar W[p] is made
/// once per step and S(i,j) = S(i, predecessor of j) + T[m][last bond] runs along the levels of GraphBatch::paths,
/// O(n^2 H). PathRule::mean averages over all shortest paths; PathRule::single is the published rule.
///
/// Parameters: bond [sum of bond_dims, H]; hop_weight W [max_hops, H, H], hop p at row p - 1, input head first.
class PathBiasImpl : public torch::nn::Module {
 public:
  PathBiasImpl(Features features, int heads, int max_hops);
  /// [P, H] over packed pairs.
  torch::Tensor forward(const GraphBatch& batch);
  /// T [max_hops, bond ids, H].
  torch::Tensor hop_table();

  torch::Tensor bond, hop_weight;

 private:
  Features features_;
  int max_hops_;
  torch::Tensor bond_rows_;   ///< [bond ids, bond_columns] rows of `bond` of each id
};
TORCH_MODULE(PathBias);

}  // namespace molgraph
