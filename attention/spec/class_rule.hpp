// The classes of pairs of tokens. Does not use LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/spec/scalar.hpp"
#include "featurize/graph/graph_batch.hpp"
#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// Ties rows of tables, as in published models: class -> the class whose row it uses. Empty = each class has its own
/// row.
struct ClassMaps {
  std::vector<std::int64_t> topology;  ///< [T]
  std::vector<std::int64_t> edge;      ///< [E]
};

/// Maps a pair's raw relations to its classes (docs/models/formula.md section 1).
struct ClassRule {
  TopologyClasses topology{1};
  EdgeClasses edge{0};
  ClassMaps maps;
  int forbidden_distance = 0;  ///< > 0: masks atom pairs at this distance or more, including unreachable pairs

  int topology_class(std::int64_t i, std::int64_t j, std::uint16_t raw) const {
    const int of = topology.of(i, j, raw);
    return maps.topology.empty() ? of : static_cast<int>(maps.topology[static_cast<std::size_t>(of)]);
  }
  int edge_class(std::int64_t i, std::int64_t j, std::uint8_t raw) const {
    const int of = edge.of(i, j, raw);
    return maps.edge.empty() ? of : static_cast<int>(maps.edge[static_cast<std::size_t>(of)]);
  }
  /// kUnreachable is larger than any distance.
  bool forbidden(std::int64_t i, std::int64_t j, std::uint16_t raw) const {
    return forbidden_distance > 0 && i > 0 && j > 0 && raw >= forbidden_distance;
  }
};

/// `max_distance` is L, as TopologyClasses::max_distance.
inline ClassRule class_rule(Features features, int max_distance) {
  return {TopologyClasses{max_distance}, EdgeClasses{feature_shape(features).bond_ids}, {}, 0};
}

/// Numbers a molecule's relations (distinct pairs of a topology and an edge class) from 0, in the order of their first
/// occurrence.
class RelationNumbers {
 public:
  RelationNumbers() = default;
  /// If `edges` is false, all edge classes are 0.
  RelationNumbers(const ClassRule& rule, bool edges)
      : edges_(edges), edge_classes_(edges ? static_cast<std::uint32_t>(rule.edge.count()) : 1),
        number_(static_cast<std::size_t>(rule.topology.count()) * edge_classes_, kNotMet) {}

  /// Relation number of query token i and key token j with the given raw relations.
  std::uint16_t of(const ClassRule& rule, std::int64_t i, std::int64_t j, std::uint16_t raw_topology,
                   std::uint8_t raw_edge) {
    const auto topology = static_cast<std::uint32_t>(rule.topology_class(i, j, raw_topology));
    const std::uint32_t edge = edges_ ? static_cast<std::uint32_t>(rule.edge_class(i, j, raw_edge)) : 0;
    std::uint16_t& number = number_[topology * edge_classes_ + edge];
    if (number == kNotMet) {
      number = static_cast<std::uint16_t>(met_.size());
      met_.push_back(relation_word(topology, edge));
    }
    return number;
  }
  /// relation_word() of each number.
  const std::vector<std::uint32_t>& met() const { return met_; }
  /// Prepares for the next molecule.
  void clear() {
    for (const std::uint32_t word : met_) number_[topology_of(word) * edge_classes_ + edge_of(word)] = kNotMet;
    met_.clear();
  }

 private:
  static constexpr std::uint16_t kNotMet = 0xFFFF;
  bool edges_ = false;
  std::uint32_t edge_classes_ = 1;
  std::vector<std::uint16_t> number_;  ///< [T * E]
  std::vector<std::uint32_t> met_;
};

}  // namespace molgraph
