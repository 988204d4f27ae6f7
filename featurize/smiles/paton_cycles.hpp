// Cycle basis of a graph by Paton's algorithm. Private to this room; no RDKit.
#pragma once

#include <vector>

namespace molgraph {

/// Length of the longest cycle of the fundamental basis that Paton's algorithm (Comm. ACM 12:514, 1969) finds when
/// every component is rooted at its lowest vertex, neighbours are taken in ascending order and the vertex examined
/// next is the one found last: the choice of networkx up to 3.0. 0 for a forest. `neighbours[v]` must be ascending.
int longest_paton_cycle(const std::vector<std::vector<int>>& neighbours);

}  // namespace molgraph
