// The stack of blocks (docs/models/formula.md section 2).
#pragma once

#include <vector>

#include "attention/formula/attention.hpp"
#include "attention/formula/dropout.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::formula {

/// The terms of layer `layer`: its tables (or those that all layers share), bias, gate and dropout. `pair_states`:
/// e before this layer (pair_states.hpp), empty without states.
AttentionTerms attention_terms(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                               const Parameters& parameters, const Draws& draws, const std::vector<Matrix>& pair_states,
                               int layer);

/// Queries and keys [N, C] of a layer whose input is `state`.
struct QueriesAndKeys {
  Matrix q, k;
};
QueriesAndKeys queries_and_keys(const Matrix& state, const EncoderOptions& options, const Parameters& parameters,
                                int layer);

/// One block [N, C] -> [N, C]. With pre-LN (the default):
///     x = x + drop(O(attention(LN(x))));   x = x + drop(W2 drop(GELU(W1 LN(x))))
/// With post-LN (EncoderOptions::post_ln):
///     x = LN(x + drop(O(attention(x))));   x = LN(x + drop(W2 drop(GELU(W1 x)))).
/// With EncoderOptions::degree_scaler, each atom's attention output is scaled before O.
Matrix encoder_block(const Matrix& x, const Molecule& molecule, const PairClasses& classes, const AttentionTerms& terms,
                     const EncoderOptions& options, const Parameters& parameters, const Draws& draws, int layer);

/// States [N, C]: entry 0 is `x`, entry l is the output of block l, and the last entry is the input of the head: a copy
/// of the previous entry or, if the plan has a final LayerNorm, its output. `pair_states`, if not null, receives
/// the states of the pairs before each layer.
std::vector<Matrix> encoder(const Matrix& x, const Molecule& molecule, const ModelPlan& plan,
                            const Parameters& parameters, const Draws& draws,
                            std::vector<std::vector<Matrix>>* pair_states = nullptr);

}  // namespace molgraph::formula
