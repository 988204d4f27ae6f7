// States of pairs of tokens (docs/models/formula.md section 5; attention/spec/pair_states.hpp), one [N, N] matrix per
// element of the state.
#pragma once

#include <string>
#include <vector>

#include "attention/formula/attention.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::formula {

/// e of every pair before the first layer: the rows of its topology class and edge class, and its vector r_ij
/// (pair_vectors.hpp), if the model uses one, times the table `vector`. Empty if the model has no states.
std::vector<Matrix> first_pair_states(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                                      const Parameters& parameters);

/// Adds `states` to the terms of the layer `owner` ("encoder.layers.K."): to b_ij, and as a part of the values.
void add_pair_states(const std::vector<Matrix>& states, const Parameters& parameters, const std::string& owner,
                     AttentionTerms& terms);

/// e after the layer whose `terms` contain the states before it. q and k [N, C]: the layer's queries and keys.
std::vector<Matrix> next_pair_states(const Matrix& q, const Matrix& k, const PairClasses& classes,
                                     const AttentionTerms& terms, const Parameters& parameters,
                                     const std::string& owner);

}  // namespace molgraph::formula
