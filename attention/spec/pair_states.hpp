// States of pairs of tokens (docs/models/formula.md section 5). A pair (i, j) of a molecule has a vector e_ij of
// EncoderOptions::pair_state numbers. It begins as a sum of rows for the pair's relations. Each layer reads it, in its
// scores and its values, and then adds to it what its attention computed for the pair (after Chen et al. 2023, GPTrans,
// arXiv:2305.11424, section 3.3, and Ma et al. 2023, GRIT, arXiv:2305.17589, section 3.2):
//     b_ij += bias . e_ij                     z_i += sum_j w_ij (e_ij . value)
//     e_ij += (bounded(s_ij), kPairWeight a_ij) . update + update_bias
// GPTrans adds a linear map of s_ij + a_ij and reads the states with their own softmax; GRIT computes the scores from
// the states.
#pragma once

#include <cmath>

namespace molgraph {

inline constexpr int kMaxPairState = 64;

/// Factor of the attention weights a_ij, which are about 1/(number of tokens), next to the scores.
inline constexpr double kPairWeight = 4;

/// Limit of bounded() for large scores.
inline constexpr double kPairBound = 4;

/// s/(1 + |s|/kPairBound): about s for small scores, in (-kPairBound, kPairBound).
template <class Real>
Real bounded(Real s) {
  return s / (1 + std::abs(s) / static_cast<Real>(kPairBound));
}

}  // namespace molgraph
