// The one attention operation of the toolkit (models.md section 2) in plain LibTorch calls: the clear reference.
//
//     s_ij = alpha * ( q_i.k_j + q_i.PQ[t] + k_x.PK[t] + q_i.EQ[e] + k_x.EK[e] ) + b_ij       alpha = 1/sqrt(d)
//     a_ij = softmax over the molecule's tokens j of s_ij
//     w_ij = dropout( a_ij * C_ij )
//     z_i  = sum_j w_ij * ( v_j + PV[t] + EV[e] )
//
// per head h, with t, e the topology and edge class of the pair (i, j). Works in float32 and float64.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "graphormer/attention/layout.hpp"
#include "graphormer/attention/options.hpp"

namespace molgraph {

/// Learned tables of one layer (or of all); undefined = the term is off. T topology classes, E edge classes, H heads.
struct RelationTables {
  torch::Tensor spatial;          ///< b [T, H], or [T - 2, H]: then the last three classes (VIRTUAL) share the last row
  torch::Tensor topology_query;   ///< PQ [T, H*d]
  torch::Tensor topology_key;     ///< PK [T, H*d]
  torch::Tensor topology_value;   ///< PV [T, H*d]
  torch::Tensor edge_query;       ///< EQ [E, H*d]
  torch::Tensor edge_key;         ///< EK [E, H*d]
  torch::Tensor edge_value;       ///< EV [E, H*d]
};

/// The tables looked up for one batch: computed once, used by every layer that shares them. M relations of the layout.
struct BatchTerms {
  int heads = 1;                           ///< H
  torch::Tensor query_table;               ///< alpha*(PQ + EQ) per relation [H, d, M], or undefined
  torch::Tensor key_table;                 ///< alpha*(PK + EK) per relation [H, d, M], or undefined
  torch::Tensor value_table;               ///< PV + EV per relation [H, M, d], or undefined
  /// per group, b_ij and -inf at masked keys [H, G, N*N]; [1, G, N*N] without b
  std::vector<torch::Tensor> bias;
  KeyTerm key_term = KeyTerm::column;      ///< x above
};

/// `pair_bias` [P, H] over packed pairs is added to b; undefined = none. `like` gives dtype; `topology_classes` is T.
BatchTerms make_terms(const RelationTables& tables, const torch::Tensor& pair_bias, const AttentionLayout& layout,
                      int heads, int topology_classes, KeyTerm key_term, const torch::TensorOptions& like);

/// C_ij of every group [H, G, N*N] from a table [T, H]; `relu` as GateOptions::relu.
std::vector<torch::Tensor> make_gates(const torch::Tensor& gate, bool relu, const AttentionLayout& layout);

/// What attention() shows of its inside, for tests and for explaining a prediction.
struct AttentionWeights {
  std::vector<torch::Tensor> softmax;   ///< a per group [H, G, N, N]
  std::vector<torch::Tensor> weights;   ///< w per group [H, G, N, N]
};

/// qkv [grouped tokens, 3*C] -> z [grouped tokens, C]. qkv holds q, then k, then v, each by head: h*d .. h*d + d - 1.
/// `gates` and `dropout` hold one tensor per group ([H, G, N*N]; factors, dropout's 0 or 1/(1-p)), or are empty.
/// A row without any allowed key gives z = 0 and no gradient.
torch::Tensor attention(const torch::Tensor& qkv, const AttentionLayout& layout, const BatchTerms& terms,
                        const std::vector<torch::Tensor>& gates, const std::vector<torch::Tensor>& dropout,
                        AttentionWeights* seen = nullptr);

}  // namespace molgraph
