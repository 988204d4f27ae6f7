// Raw relations of every ordered pair of tokens of one molecule.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Largest number of atoms: a bond's atoms and the distances are 16-bit numbers, and two values are reserved.
inline constexpr int kMaxAtoms = 65533;

/// Token 0 is the virtual node, tokens 1..n the atoms; N = n + 1. Both arrays are row-major [N, N].
struct PairRelations {
  std::vector<std::uint16_t> topology;  ///< distance in bonds, kUnreachable or kVirtual
  std::vector<std::uint8_t> edge;       ///< bond id, kNoEdge, kSelfEdge or kVirtualEdge
};

/// Distances by breadth-first search from every atom (Boost.Graph), without the virtual node. The cost is n (n + m).
/// The view must have at most kMaxAtoms atoms.
PairRelations pair_relations(const GraphView& graph);

}  // namespace molgraph
