// The one attention operation of the toolkit (docs/models/formula.md section 2):
//
//     s_ij = alpha * ( q_i.k_j + q_i.(PQ[t] + EQ[e]) + k_x.(PK[t'] + EK[e'] + u) + v.PQ[t] ) + b_ij
//     alpha = 1/sqrt(score_terms * d)
//     a_ij = softmax over the molecule's tokens j of s_ij
//     w_ij = dropout( a_ij * C_ij )
//     z_i  = sum_j w_ij * ( v_j + PV[t] + EV[e] )
//     and, with pair states e_ij, v_j + .. + e_ij.value; their part of b_ij is in `bias`
//     and, with walks: q_i.(.. + sum_s WQ[s] r_ij[s]), k_j.(.. + sum_s WK[s] r_ij[s]), v_j + .. + sum_s WV[s] r_ij[s]
//
// per head, where t and e are the topology and edge class of the pair (i, j). x = j, or i with KeyTerm::row. t' and e'
// are the classes of (i, j), or of (j, i) with KeyTerm::reverse.
#pragma once

#include <vector>

#include "attention/formula/matrix.hpp"
#include "attention/formula/molecule.hpp"
#include "attention/spec/options.hpp"

namespace molgraph::formula {

/// Learned tables of one layer, with the names of attention/spec/parameters.hpp; empty = the term is off. T topology
/// classes, E edge classes, H heads, C = H*d. Head h has the columns h*d .. h*d + d - 1.
struct RelationTables {
  Matrix spatial;  ///< b [T, H], or [T - 2, H] if the last three classes share the last row
  Matrix topology_query, topology_key, topology_value;  ///< PQ, PK, PV [T, C]
  Matrix edge_query, edge_key, edge_value;              ///< EQ, EK, EV [E, C]
  Matrix content_bias, position_bias;                   ///< u, v [1, C] (Dai et al. 2019)
  Matrix walk_query, walk_key, walk_value;              ///< WQ, WK, WV [steps, C]
};

/// Everything in the attention of one layer except q, k and v.
struct AttentionTerms {
  int heads = 1;
  KeyTerm key_term = KeyTerm::column;
  int score_terms = 1;  ///< alpha = 1/sqrt(score_terms * d)
  RelationTables tables;
  std::vector<Matrix> walks;  ///< r per column [N, N] (pair_vectors.hpp); one for each row of WQ, WK, WV
  std::vector<Matrix> bias;   ///< per head [N, N]: terms of b_ij other than `spatial` (pair_terms.hpp); empty = none
  std::vector<Matrix> gate;   ///< C per head [N, N]; empty = 1
  std::vector<Matrix> pair_states;  ///< e per element [N, N] (pair_states.hpp); empty = no states
  Matrix pair_value;                ///< [elements of e, C]
  std::vector<Matrix> dropout;      ///< factors per head [N, N]; empty = 1
};

/// s of one head [N, N]; minus infinity for masked pairs. q and k [N, C].
Matrix attention_scores(const Matrix& q, const Matrix& k, const PairClasses& classes, const AttentionTerms& terms,
                        int head);
/// a [N, N]: the exponentials of each row divided by their sum. A fully masked row is zero.
Matrix softmax(const Matrix& scores);
/// w [N, N] of one head, from its a.
Matrix attention_weights(const Matrix& softmaxed, const AttentionTerms& terms, int head);
/// z of one head [N, d].
Matrix attention_head(const Matrix& q, const Matrix& k, const Matrix& v, const PairClasses& classes,
                      const AttentionTerms& terms, int head);
/// z of all heads, concatenated [N, C].
Matrix attention(const Matrix& q, const Matrix& k, const Matrix& v, const PairClasses& classes,
                 const AttentionTerms& terms);

}  // namespace molgraph::formula
