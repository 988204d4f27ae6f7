// Random walks between the atoms of a molecule.
#pragma once

#include <cstdint>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// r_ij[t] = ((D^-1 A)^t)_ij, t = 1 .. `steps`, for all tokens i, j: the probability that a random walk from i is at j
/// after t steps, if all bonds of an atom are equally likely. These are GRIT's relative random walk probabilities
/// (Ma et al. 2023, arXiv:2305.17589, section 3.1) without t = 0, the identity, which a topology class already
/// represents. Values in [0, 1]; 0 between fragments, for token 0 and for single atoms. Not symmetric: degree(i) r_ij =
/// degree(j) r_ji. `out` [steps, tokens j, tokens i]. The work is steps x atoms x bonds. T is float or double.
template <class T>
void walk_probabilities(const GraphBatch& batch, std::int64_t molecule, int steps, T* out);

/// Probabilities that a random walk returns to its atom after 1, 2, ... `steps` steps: the diagonals of (D^-1 A)^t
/// (Dwivedi et al. 2022, arXiv:2110.07875, eq. 9; Li et al. 2020, arXiv:2009.00142). All are 0 for an atom without
/// bonds. `out` [atoms of the molecule, steps]; values in [0, 1]; step 1 is always 0 in a molecule. Invariant under
/// renumbering.
void random_walk_positions(const GraphBatch& batch, std::int64_t molecule, int steps, double* out);

}  // namespace molgraph
