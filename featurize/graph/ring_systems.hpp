// Hashes of a molecule's ring systems, used to test whether a model was trained on them.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Returns the hashes of the ring systems (rings that share an atom: fused, bridged, spiro), ascending and without
/// duplicates. Equal systems have equal hashes for any order of the atoms. A hash covers the first atom column (the
/// element; for `zinc` the atom type), the first bond column and the connections, by colour refinement (Weisfeiler &
/// Leman 1968) that starts from each atom's counts of other atoms by distance. Substituents and hydrogens are not
/// included. Different systems that refinement cannot distinguish have the same hash. Molecules with other Features
/// have other hashes.
std::vector<std::uint64_t> ring_systems(const GraphView& graph);

}  // namespace molgraph
