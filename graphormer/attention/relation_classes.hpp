// From raw relations to the classes that the tables are indexed by.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/graph_batch.hpp"
#include "graphormer/attention/layout.hpp"

namespace molgraph {

/// Ties rows of tables, as published models do: class -> the class whose row it uses. Empty = every class has its own
/// row.
struct ClassMaps {
  std::vector<std::int64_t> topology;   ///< [T]
  std::vector<std::int64_t> edge;       ///< [E]
};

/// Classes of all packed pairs (models.md section 1) under the cap `max_distance`; `maps` is applied last.
RelationClasses relation_classes(const GraphBatch& batch, int max_distance, const ClassMaps& maps = {});

/// [P] bool: pairs of atoms at `distance` or more, unreachable ones included; never a pair with token 0.
torch::Tensor pairs_at_distance(const GraphBatch& batch, int distance);

}  // namespace molgraph
