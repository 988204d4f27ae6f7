#include "attention/reference/relation_classes.hpp"

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

RelationClasses relation_classes(const GraphBatch& batch, const ClassRule& rule) {
  RelationClasses classes;
  classes.topology = torch::empty({batch.num_pairs()}, torch::kInt64);
  classes.edge = torch::empty({batch.num_pairs()}, torch::kInt64);
  if (rule.forbidden_distance > 0) classes.forbidden = torch::empty({batch.num_pairs()}, torch::kBool);
  auto* topology = classes.topology.data_ptr<std::int64_t>();
  auto* edge = classes.edge.data_ptr<std::int64_t>();
  bool* forbidden = classes.forbidden.defined() ? classes.forbidden.data_ptr<bool>() : nullptr;
  for_each_pair(batch, [&](std::int64_t pair, std::int64_t i, std::int64_t j) {
    const auto p = static_cast<std::size_t>(pair);
    topology[pair] = rule.topology_class(i, j, batch.topology[p]);
    edge[pair] = rule.edge_class(i, j, batch.edge[p]);
    if (forbidden != nullptr) forbidden[pair] = rule.forbidden(i, j, batch.topology[p]);
  });
  return classes;
}

}  // namespace molgraph
