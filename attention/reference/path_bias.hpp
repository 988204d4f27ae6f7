// The multi-hop edge-path term (Ying et al. 2021, eq. 7; docs/models/formula.md section 3), for bias and gate.
#pragma once

#include <torch/torch.h>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// For atoms i, j with path bonds c_1 .. c_m: path_ij = (1/m') sum over p = 1..m' of Ebar[c_p] W[p], where
/// m' = min(m, hops) and Ebar[c] is the mean of the embeddings of the bond's columns. Zero for i = j, unreachable pairs
/// and pairs with token 0.
///
/// The published code evaluates every hop of every pair, O(n^2 hops H^2). Here, T[p][bond id] = Ebar W[p] is computed
/// once per step, and S(i,j) = S(i, predecessor of j) + T[m][last bond] is computed level by level along
/// GraphBatch::paths, O(n^2 H). PathRule::mean averages over all shortest paths; PathRule::single is the published
/// rule.
///
/// `bond` [sum of bond_dims, H]; `hop_weight` W [hops, H, H], hop p at row p - 1, input head first. [P, H] over packed
/// pairs.
torch::Tensor path_values(const torch::Tensor& bond, const torch::Tensor& hop_weight, const GraphBatch& batch);

/// T [hops, bond ids, H].
torch::Tensor hop_table(const torch::Tensor& bond, const torch::Tensor& hop_weight, Features features);

}  // namespace molgraph
