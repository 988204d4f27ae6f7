// Where an atom stands in its molecule, as numbers: Laplacian eigenvectors. Random walks: walks.hpp.
#pragma once

#include <cstdint>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Of RelationTerms::absolute_bias: the rank of P_Q.P_K per head, and the rows of its tables: degrees up to this one
/// (larger ones share its row), then the virtual node's.
inline constexpr int kAbsoluteRank = 64, kAbsoluteLastDegree = 15, kAbsoluteRows = kAbsoluteLastDegree + 2;

/// The `count` non-trivial eigenvectors of I - D^-1/2 A D^-1/2 with the smallest eigenvalues, of unit length (Dwivedi &
/// Bresson 2020, arXiv:2012.09699, section 2.1; there the signs are random, and bases of equal eigenvalues arbitrary).
/// `out` [atoms of the molecule, count]. Each fragment has its own eigenvectors, so that one fragment does not change
/// the other's; where a fragment has too few, the rest is zero (a lone atom: all).
///
/// Signs and the bases of equal eigenvalues are canonical: each eigenspace is spanned by projections of vectors that
/// depend on the atoms' environments only (their columns, bonds and neighbourhoods), so the same molecule gets the same
/// numbers in one pass whatever its numbering. Averaging over signs instead would cost 2^count passes. What
/// environments cannot tell apart (a symmetric molecule's mirror images, benzene's plane of equal eigenvalues) is
/// settled by the numbering.
void laplacian_positions(const GraphBatch& batch, std::int64_t molecule, int count, double* out);

}  // namespace molgraph
