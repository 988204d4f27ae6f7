#include "graphormer/attention/relation_classes.hpp"

namespace molgraph {
namespace {

/// Calls visit(pair, i, j) for every packed pair of tokens.
template <class Visit>
void for_each_pair(const GraphBatch& batch, Visit&& visit) {
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    const std::int64_t n = batch.token_offset[k + 1] - batch.token_offset[k];
    std::int64_t pair = batch.pair_offset[k];
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) visit(pair++, i, j);
    }
  }
}

}  // namespace

RelationClasses relation_classes(const GraphBatch& batch, int max_distance, const ClassMaps& maps) {
  const TopologyClasses topology{max_distance};
  const EdgeClasses edge{feature_shape(batch.features).bond_ids};
  const auto mapped = [](const std::vector<std::int64_t>& map, int of) {
    return map.empty() ? std::int64_t{of} : map[static_cast<std::size_t>(of)];
  };
  RelationClasses classes;
  classes.topology = torch::empty({batch.num_pairs()}, torch::kInt64);
  classes.edge = torch::empty({batch.num_pairs()}, torch::kInt64);
  auto* topology_out = classes.topology.data_ptr<std::int64_t>();
  auto* edge_out = classes.edge.data_ptr<std::int64_t>();
  for_each_pair(batch, [&](std::int64_t pair, std::int64_t i, std::int64_t j) {
    const auto p = static_cast<std::size_t>(pair);
    topology_out[pair] = mapped(maps.topology, topology.of(i, j, batch.topology[p]));
    edge_out[pair] = mapped(maps.edge, edge.of(i, j, batch.edge[p]));
  });
  return classes;
}

torch::Tensor pairs_at_distance(const GraphBatch& batch, int distance) {
  torch::Tensor result = torch::zeros({batch.num_pairs()}, torch::kBool);
  bool* out = result.data_ptr<bool>();
  for_each_pair(batch, [&](std::int64_t pair, std::int64_t i, std::int64_t j) {
    const std::uint16_t raw = batch.topology[static_cast<std::size_t>(pair)];
    out[pair] = i > 0 && j > 0 && raw >= distance;  // kUnreachable lies above every distance
  });
  return result;
}

}  // namespace molgraph
