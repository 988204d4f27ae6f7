// Vectors of pairs of atoms (docs/models/formula.md section 5): walks, paths and rings between them, by their
// definitions.
#pragma once

#include "attention/formula/molecule.hpp"
#include "attention/spec/options.hpp"

namespace molgraph::formula {

/// By column of `vector`: [N, N], zero with token 0 (attention/spec/pair_vector.hpp says what they are). Every path and
/// every ring is gone through: for molecules whose number of walks is below kMostWalks.
std::vector<Matrix> pair_vectors(const Molecule& molecule, const PairVector& vector);

/// [N, vector.size()]: their diagonals.
Matrix atom_vectors(const Molecule& molecule, const PairVector& vector);

}  // namespace molgraph::formula
