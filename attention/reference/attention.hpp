// The one attention operation of the toolkit (docs/models/formula.md section 2) in plain LibTorch calls: the readable
// reference implementation.
//
//     s_ij = alpha * ( q_i.k_j + q_i.PQ[t] + k_x.PK[t] + q_i.EQ[e] + k_x.EK[e] ) + b_ij       alpha = 1/sqrt(d)
//     a_ij = softmax over the molecule's tokens j of s_ij
//     w_ij = dropout( a_ij * C_ij )
//     z_i  = sum_j w_ij * ( v_j + PV[t] + EV[e] )
//
// per head h, where t and e are the topology and edge class of the pair (i, j). Works in float32 and float64. Two
// encodings change it (see TermOptions and FilledTable): DeBERTa has alpha = 1/sqrt(3d) and the reversed pair's class
// in the key term; Transformer-XL has learned vectors u and v in place of a query.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "attention/reference/layout.hpp"
#include "attention/reference/pair_states.hpp"
#include "attention/spec/options.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph {

/// A table of spec/terms.hpp with its values. T topology classes, E edge classes, H heads.
struct FilledTable {
  RelationTable table;
  /// b [T, H], or [T - 2, H] if the last three classes (VIRTUAL) share the last row; gate [T, H]; PQ, PK, PV [T, H*d];
  /// EQ, EK, EV [E, H*d]; WQ, WK, WV [steps, H*d]; u [H*d]: adds alpha * u.k_j to s_ij (Dai et al. 2019,
  /// arXiv:1901.02860, section 3.3)
  torch::Tensor rows;
  torch::Tensor position;  ///< defined only with u: v [H*d], adds alpha * v.PQ[t]; requires a table PQ
};

/// Values that a pair term adds: per pair, or as products of values of the two tokens. Any member may be undefined;
/// query and key are either both defined or both undefined.
struct PairValues {
  torch::Tensor dense;  ///< [P, H] over packed pairs
  torch::Tensor query;  ///< [tokens, H, r]: query_i.key_j is added for two tokens of one molecule
  torch::Tensor key;    ///< [tokens, H, r]
};

/// Options for computing scores from tables.
struct TermOptions {
  int heads = 1;                       ///< H
  bool tied_virtual = false;           ///< b has T - 2 rows
  KeyTerm key_term = KeyTerm::column;  ///< x above, and the pair whose class the key term uses
  int score_terms = 1;                 ///< alpha = 1/sqrt(score_terms * d)
};

/// The tables' values for one batch, computed once and used by all layers that share them. M relations of the layout.
struct BatchTerms {
  int heads = 1;              ///< H
  int score_terms = 1;        ///< of TermOptions
  torch::Tensor query_table;  ///< alpha*(PQ + EQ) per relation [H, d, M], or undefined
  torch::Tensor key_table;    ///< alpha*(PK + EK) per relation [H, d, M], or undefined
  torch::Tensor value_table;  ///< PV + EV per relation [H, M, d], or undefined
  /// per group, b_ij and -inf at masked keys [H, G, N*N]; [1, G, N*N] without b
  std::vector<torch::Tensor> bias;
  /// per group [G, N*N] int32, index of pair (i, j) in the products k.key_table; empty: k_x is k_i, as for the query
  std::vector<torch::Tensor> key_slot;
  /// alpha*WQ and alpha*WK [H, d, steps], WV [H, steps, d], or undefined
  torch::Tensor walk_query, walk_key, walk_value;
  std::vector<torch::Tensor> walks;  ///< per group r_ij [G, N, N, steps]; empty if all three are undefined
};

/// `tables` are in the order of relation_tables(). b_ij is the sum of its table's rows and of `added`, in this order.
/// `like` gives the dtype. `walks` [P, steps]: r of every packed pair, for tables with RelationTable::Row::walk.
BatchTerms make_terms(const std::vector<FilledTable>& tables, const std::vector<PairValues>& added,
                      const AttentionLayout& layout, const TermOptions& options, const torch::TensorOptions& like,
                      const torch::Tensor& walks = {});

/// C_ij of every group [H, G, N*N]: the sum of the gate's tables and of `added`, passed through ReLU if `relu`.
std::vector<torch::Tensor> make_gates(const std::vector<FilledTable>& tables, const std::vector<PairValues>& added,
                                      bool relu, const AttentionLayout& layout);

/// qkv [grouped tokens, 3*C] -> z [grouped tokens, C]. qkv contains q, then k, then v; head h has the columns
/// h*d .. h*d + d - 1 of each. `gates` and `dropout` contain one tensor of factors per group ([H, G, N*N]; for dropout,
/// 0 or 1/(1-p)), or are empty. A row without an allowed key gives z = 0 and no gradient. `pairs`, if not null, are
/// states that the layer reads and adds to.
torch::Tensor attention(const torch::Tensor& qkv, const AttentionLayout& layout, const BatchTerms& terms,
                        const std::vector<torch::Tensor>& gates, const std::vector<torch::Tensor>& dropout,
                        PairStates* pairs = nullptr);

}  // namespace molgraph
