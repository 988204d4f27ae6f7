// Vectors of pairs of atoms (docs/models/formula.md section 5): walks, paths and rings between them, computed directly
// from their definitions.
#pragma once

#include "attention/formula/molecule.hpp"
#include "attention/spec/options.hpp"

namespace molgraph::formula {

/// One [N, N] matrix per column of `vector`, zero for token 0 (definitions: attention/spec/pair_vector.hpp). Enumerates
/// every path and ring, so it equals attention/spec only for molecules with at most kMaxWalks walks.
std::vector<Matrix> pair_vectors(const Molecule& molecule, const PairVector& vector);

/// [N, vector.size()]: the diagonals of pair_vectors().
Matrix atom_vectors(const Molecule& molecule, const PairVector& vector);

}  // namespace molgraph::formula
