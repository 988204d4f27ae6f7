// Where an atom stands in its molecule, as numbers (docs/models/formula.md section 5). Row 0, the virtual node's, is
// zero.
#pragma once

#include "attention/formula/dropout.hpp"
#include "attention/formula/molecule.hpp"

namespace molgraph::formula {

/// By step t = 1 .. steps: (D^-1 A)^t [N, N], the probability that a random walk from i is at j after t steps (Ma et
/// al. 2023, arXiv:2305.17589, section 3.1). By powers of the matrix.
std::vector<Matrix> walks(const Molecule& molecule, std::int64_t steps);

/// [N, steps]: column t - 1 is the diagonal of (D^-1 A)^t, the probability that a random walk is back after t steps
/// (Dwivedi et al. 2022, arXiv:2110.07875, eq. 9).
Matrix random_walk(const Molecule& molecule, std::int64_t steps);

/// [N, count] eigenvectors of I - D^-1/2 A D^-1/2 (Dwivedi & Bresson 2020, arXiv:2012.09699, section 2.1); in training
/// each with a random sign. What makes their signs canonical is too long for the formula:
/// attention/spec/node_positions.hpp has it.
Matrix laplacian(const Molecule& molecule, std::int64_t count, const Draws& draws);

}  // namespace molgraph::formula
