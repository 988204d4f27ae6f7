// Positions of atoms in their molecule: Laplacian eigenvectors. For random walks, see walks.hpp.
#pragma once

#include <cstdint>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Sizes for RelationTerms::absolute_bias: the rank of P_Q.P_K per head, the largest degree with its own row (larger
/// degrees share it), and the number of rows including the virtual node's, which is the last.
inline constexpr int kAbsoluteRank = 64, kAbsoluteLastDegree = 15, kAbsoluteRows = kAbsoluteLastDegree + 2;

/// The `count` non-trivial eigenvectors of I - D^-1/2 A D^-1/2 with the smallest eigenvalues, normalised to unit length
/// (Dwivedi & Bresson 2020, arXiv:2012.09699, section 2.1, where the signs are random and the bases of equal
/// eigenvalues arbitrary). `out` [atoms of the molecule, count]. Each fragment has its own eigenvectors, so fragments
/// do not influence each other. If a fragment has fewer than `count`, the remaining columns are zero (a single atom:
/// all columns).
///
/// Signs and the bases of equal eigenvalues are canonical: each eigenspace is spanned by projections of vectors that
/// depend only on the atoms' environments (columns, bonds, neighbourhoods). A molecule therefore gets the same values
/// for every atom numbering in one pass; averaging over signs would take 2^count passes. Where environments leave
/// several choices (mirror images in a symmetric molecule, benzene's plane of equal eigenvalues), the numbering
/// decides.
void laplacian_positions(const GraphBatch& batch, std::int64_t molecule, int count, double* out);

}  // namespace molgraph
