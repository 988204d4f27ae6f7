// Positions of atoms in their molecule (docs/models/formula.md section 5). Row 0, of the virtual node, is zero.
#pragma once

#include "attention/formula/dropout.hpp"
#include "attention/formula/molecule.hpp"

namespace molgraph::formula {

/// For each step t = 1 .. steps: (D^-1 A)^t [N, N], the probability that a random walk from i is at j after t steps (Ma
/// et al. 2023, arXiv:2305.17589, section 3.1), computed as matrix powers.
std::vector<Matrix> walks(const Molecule& molecule, std::int64_t steps);

/// [N, steps]: column t - 1 is the diagonal of (D^-1 A)^t, the probability that a random walk returns after t steps
/// (Dwivedi et al. 2022, arXiv:2110.07875, eq. 9).
Matrix random_walk(const Molecule& molecule, std::int64_t steps);

/// [N, count] eigenvectors of I - D^-1/2 A D^-1/2 (Dwivedi & Bresson 2020, arXiv:2012.09699, section 2.1), each with a
/// random sign in training. attention/spec/node_positions.hpp computes them and makes their signs canonical.
Matrix laplacian(const Molecule& molecule, std::int64_t count, const Draws& draws);

}  // namespace molgraph::formula
