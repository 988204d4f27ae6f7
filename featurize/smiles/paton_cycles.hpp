// Cycle basis of a graph by Paton's algorithm. Private to this folder; does not use RDKit.
#pragma once

#include <vector>

namespace molgraph {

/// Returns the length of the longest cycle in the fundamental basis of Paton's algorithm (Comm. ACM 12:514, 1969), with
/// every component rooted at its lowest vertex, neighbours in ascending order and the vertex found last examined next,
/// as in networkx up to 3.0. Returns 0 for a forest. `neighbours[v]` must be ascending.
int longest_paton_cycle(const std::vector<std::vector<int>>& neighbours);

}  // namespace molgraph
