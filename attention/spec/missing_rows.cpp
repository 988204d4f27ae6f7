#include "attention/spec/missing_rows.hpp"

#include <algorithm>

#include "featurize/graph/pair_relations.hpp"

namespace molgraph {
namespace {

bool contains(const std::vector<int>& rows, int row) { return std::find(rows.begin(), rows.end(), row) != rows.end(); }

std::string atom_reason(const GraphView& graph, const std::vector<int>& missing) {
  const FeatureShape& shape = feature_shape(graph.features);
  for (int a = 0; a < graph.num_atoms; ++a) {
    int first = 0;
    for (int c = 0; c < shape.atom_columns; first += shape.atom_dims[static_cast<std::size_t>(c++)]) {
      const int value = graph.atoms[a][c];
      if (contains(missing, first + value))
        return "atom " + std::to_string(a + 1) + " has the value " + std::to_string(value) + " in column " +
               std::to_string(c + 1) + ", for which the imported model has no row";
    }
  }
  return {};
}

std::string bond_reason(const GraphView& graph, const std::vector<int>& missing) {
  for (int b = 0; b < graph.num_bonds; ++b) {
    const int id = bond_id(graph.features, graph.bonds[b]);
    if (contains(missing, id))
      return "the bond of atoms " + std::to_string(graph.bond_atoms[2 * b] + 1) + " and " +
             std::to_string(graph.bond_atoms[2 * b + 1] + 1) + " has a type for which the imported model has no row";
  }
  return {};
}

std::string distance_reason(const GraphView& graph, int max_distance, const std::vector<int>& missing) {
  const TopologyClasses classes{max_distance};
  const PairRelations relations = pair_relations(graph);
  const auto tokens = static_cast<std::int64_t>(graph.num_atoms) + 1;
  for (std::int64_t i = 1; i < tokens; ++i) {
    for (std::int64_t j = 1; j < tokens; ++j) {
      const std::uint16_t raw = relations.topology[static_cast<std::size_t>(i * tokens + j)];
      if (!contains(missing, classes.of(i, j, raw))) continue;
      const std::string pair = "atoms " + std::to_string(i) + " and " + std::to_string(j);
      return raw == kUnreachable
                 ? pair + " are in different fragments, for which the imported model has no row"
                 : pair + " are " + std::to_string(raw) + " bonds apart, for which the imported model has no row";
    }
  }
  return {};
}

}  // namespace

std::string missing_rows_reason(const GraphView& graph, int max_distance, const MissingRows& missing) {
  std::string reason;
  if (!missing.atoms.empty()) reason = atom_reason(graph, missing.atoms);
  if (reason.empty() && !missing.bonds.empty()) reason = bond_reason(graph, missing.bonds);
  if (reason.empty() && !missing.topology.empty()) reason = distance_reason(graph, max_distance, missing.topology);
  return reason;
}

}  // namespace molgraph
