// Which class every pair of tokens has: no torch here.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// Ties rows of tables, as published models do: class -> the class whose row it uses. Empty = every class has its own
/// row.
struct ClassMaps {
  std::vector<std::int64_t> topology;   ///< [T]
  std::vector<std::int64_t> edge;       ///< [E]
};

/// From a pair's raw relations to its classes (docs/formula.md section 1).
struct ClassRule {
  TopologyClasses topology{1};
  EdgeClasses edge{0};
  ClassMaps maps;
  int forbidden_distance = 0;   ///< > 0: atom pairs at this distance or more, unreachable ones included, are masked

  int topology_class(std::int64_t i, std::int64_t j, std::uint16_t raw) const {
    const int of = topology.of(i, j, raw);
    return maps.topology.empty() ? of : static_cast<int>(maps.topology[static_cast<std::size_t>(of)]);
  }
  int edge_class(std::int64_t i, std::int64_t j, std::uint8_t raw) const {
    const int of = edge.of(i, j, raw);
    return maps.edge.empty() ? of : static_cast<int>(maps.edge[static_cast<std::size_t>(of)]);
  }
  /// kUnreachable lies above every distance.
  bool forbidden(std::int64_t i, std::int64_t j, std::uint16_t raw) const {
    return forbidden_distance > 0 && i > 0 && j > 0 && raw >= forbidden_distance;
  }
};

/// `L` as TopologyClasses::max_distance.
inline ClassRule class_rule(Features features, int max_distance) {
  return {TopologyClasses{max_distance}, EdgeClasses{feature_shape(features).bond_ids}, {}, 0};
}

}  // namespace molgraph
