// Writes pair relations and path steps directly into a batch. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Neighbours of every atom in compressed rows: entries [row[a], row[a + 1]) belong to atom a, in ascending order.
struct Adjacency {
  std::vector<std::size_t> row;         ///< [n + 1]
  std::vector<std::int32_t> neighbour;  ///< [2m]
  std::vector<std::uint8_t> bond;       ///< [2m] bond id

  /// Replaces the contents with those of `graph`. Keeps the allocated memory.
  void assign(const GraphView& graph);
};

/// Writes the [N, N] relations of one molecule to `topology` and `edge` (N = n + 1, token 0 virtual).
void write_pair_relations(const GraphView& graph, std::uint16_t* topology, std::uint8_t* edge);

/// Computes the PathSteps of a packed batch from its distances. `adjacency` has one entry per molecule.
PathSteps path_steps(const GraphBatch& batch, std::span<const Adjacency> adjacency, PathRule rule);

}  // namespace molgraph
