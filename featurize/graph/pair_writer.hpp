// How pair relations and path steps are written straight into a batch. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Neighbours of every atom in compressed rows: those of atom a stand at [row[a], row[a + 1]), ascending.
struct Adjacency {
  std::vector<std::size_t> row;         ///< [n + 1]
  std::vector<std::int32_t> neighbour;  ///< [2m]
  std::vector<std::uint8_t> bond;       ///< [2m] bond id

  /// Replaces the content by `graph`'s; the memory is kept between molecules.
  void assign(const GraphView& graph);
};

/// Writes the [N, N] relations of one molecule to `topology` and `edge` (N = n + 1, token 0 virtual).
void write_pair_relations(const GraphView& graph, std::uint16_t* topology, std::uint8_t* edge);

/// Fills PathSteps of a packed batch from its distances. `adjacency` holds one entry per molecule.
PathSteps path_steps(const GraphBatch& batch, std::span<const Adjacency> adjacency, PathRule rule);

}  // namespace molgraph
