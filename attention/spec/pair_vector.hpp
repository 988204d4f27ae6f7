// Numbers of a pair of atoms beside their distance: walks, paths and rings between them.
#pragma once

#include <cstdint>

#include "attention/spec/options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Columns of PairVector::paths and how many bonds the first and the last count.
inline constexpr int kShortestPath = 2, kLongestPath = 8, kPathColumns = kLongestPath - kShortestPath + 1;
/// Columns of PairVector::rings; atoms of the largest ring that the first knows.
inline constexpr int kRingColumns = 2, kLargestRing = 12;
/// What is counted in one molecule at most: paths and rings end at the length up to which its walks that never turn
/// straight back are no more than this, and longer ones count as none. 1,024 atoms of a diamond end at 7 bonds; what
/// chemists draw is far below.
inline constexpr std::int64_t kMostWalks = std::int64_t{1} << 22;

/// r_ij of all tokens i, j. `out` [vector.size(), tokens j, tokens i]; zero with token 0 and between fragments.
/// Columns:
/// - walks: walk_probabilities() of `steps` steps;
/// - paths, l = 2 .. 8: log2(1 + c_ij[l]), c the number of paths of l bonds from i to j that meet no atom twice, on the
///   diagonal the number of rings (cycles) of l atoms through i;
/// - rings: 1 where i and j lie on one ring of at most 12 atoms, no two of which are nearer to each other in the
///   molecule than along it (an isometric cycle: what chemists call a ring, and no envelope of two), else 0; 1 where
///   they are joined by bonds of rings alone (one ring system, spiro centres included), else 0. On the diagonal: i is
///   in one.
/// Exact, invariant under renumbering, all but the walks symmetric. T is float or double.
template <class T>
void pair_vectors(const GraphBatch& batch, std::int64_t molecule, const PairVector& vector, T* out);

/// r_ii of the atoms alone. `out` [atoms of the molecule, vector.size()].
void atom_vectors(const GraphBatch& batch, std::int64_t molecule, const PairVector& vector, double* out);

}  // namespace molgraph
