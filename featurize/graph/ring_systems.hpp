// The ring systems of a molecule, each known by a number: to ask whether a model has seen them.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// A number for each ring system (rings that share an atom: fused, bridged, spiro), ascending, each once. Equal systems
/// have equal numbers however the atoms are ordered; they hash the first atom column (the element; of `zinc` its atom
/// type), the first bond column, and how the atoms lie to each other: colour refinement (Weisfeiler & Leman 1968) that
/// starts from each atom's counts of others by distance. Substituents and hydrogens are no part of it. Different
/// systems that refinement cannot tell apart would have one number. Molecules with other Features have other numbers.
std::vector<std::uint64_t> ring_systems(const GraphView& graph);

}  // namespace molgraph
