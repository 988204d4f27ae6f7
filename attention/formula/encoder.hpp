// The stack of blocks (docs/models/formula.md section 2).
#pragma once

#include <vector>

#include "attention/formula/attention.hpp"
#include "attention/formula/dropout.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::formula {

/// Everything that layer `layer` adds to q, k and v: its tables (or those that all layers share), bias, gate and
/// dropout.
AttentionTerms attention_terms(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                               const Parameters& parameters, const Draws& draws, int layer);

/// One block [N, C] -> [N, C]. With LayerNorm in front (the default)
///     x = x + drop(O(attention(LN(x))));   x = x + drop(W2 drop(GELU(W1 LN(x))))
/// and with LayerNorm behind (EncoderOptions::post_ln)
///     x = LN(x + drop(O(attention(x))));   x = LN(x + drop(W2 drop(GELU(W1 x)))).
/// With EncoderOptions::degree_scaler the attention's output is scaled atom by atom before O.
Matrix encoder_block(const Matrix& x, const Molecule& molecule, const PairClasses& classes, const AttentionTerms& terms,
                     const EncoderOptions& options, const Parameters& parameters, const Draws& draws, int layer);

/// States [N, C]: entry 0 is `x` itself, entry l what block l made of it, and the last what the head reads: the same as
/// the entry before it, or its LayerNorm where the plan has a final one.
std::vector<Matrix> encoder(const Matrix& x, const Molecule& molecule, const ModelPlan& plan,
                            const Parameters& parameters, const Draws& draws);

}  // namespace molgraph::formula
