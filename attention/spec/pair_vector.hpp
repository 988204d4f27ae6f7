// Vectors of pairs of atoms: random walks, paths and rings between them.
#pragma once

#include <cstdint>

#include "attention/spec/options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Number of columns of PairVector::paths, and path lengths in bonds of the first and the last column.
inline constexpr int kShortestPath = 2, kLongestPath = 8, kPathColumns = kLongestPath - kShortestPath + 1;
/// Number of columns of PairVector::rings, and the largest ring size (atoms) of the first column.
inline constexpr int kRingColumns = 2, kLargestRing = 12;
/// Limit on the search in one molecule: paths and rings are counted up to the largest length for which the molecule has
/// at most this many non-backtracking walks; longer ones are not counted. For 1,024 atoms of a diamond, this length is
/// 7 bonds. Ordinary molecules are far below the limit.
inline constexpr std::int64_t kMaxWalks = std::int64_t{1} << 22;

/// r_ij of all tokens i, j. `out` [vector.size(), tokens j, tokens i]; zero for token 0 and between fragments.
/// Columns:
/// - walks: walk_probabilities() with `steps` steps;
/// - paths, l = 2 .. 8: log2(1 + c_ij[l]), where c_ij[l] is the number of simple paths of l bonds from i to j; on the
///   diagonal, the number of rings (cycles) of l atoms through i;
/// - rings, first column: 1 if i and j are in the same ring of at most 12 atoms, else 0. Only isometric cycles count
///   (no two atoms are closer in the molecule than along the ring), which excludes envelopes of two rings;
/// - rings, second column: 1 if a chain of ring bonds joins i and j (same ring system, including spiro centres), else
///   0. On the diagonal, both columns are 1 if i is in such a ring or system.
/// Exact and invariant under renumbering; all columns except the walks are symmetric. T is float or double.
template <class T>
void pair_vectors(const GraphBatch& batch, std::int64_t molecule, const PairVector& vector, T* out);

/// r_ii of the atoms only. `out` [atoms of the molecule, vector.size()].
void atom_vectors(const GraphBatch& batch, std::int64_t molecule, const PairVector& vector, double* out);

}  // namespace molgraph
