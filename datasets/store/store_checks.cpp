#include "datasets/store/store_checks.hpp"

#include <algorithm>
#include <cmath>

#include "datasets/system/text.hpp"

namespace molgraph::store_layout {

void check_graph(const FileContext& file, std::int64_t g, const GraphView& graph, std::vector<std::uint32_t>& keys) {
  const auto fail = [&](const std::string& what) {
    throw_damaged(file, "molecule " + std::to_string(g) + ": " + what);
  };
  const FeatureShape& shape = feature_shape(graph.features);
  for (int a = 0; a < graph.num_atoms; ++a) {
    const std::uint8_t* atom = graph.atoms[a];
    for (int c = 0; c < shape.atom_columns; ++c) {
      const int value = atom[c];
      if (value >= shape.atom_dims[static_cast<std::size_t>(c)]) {
        fail("atom " + std::to_string(a) + ", column " + std::to_string(c) + " has the invalid value " +
             std::to_string(value));
      }
    }
  }
  keys.clear();
  for (int b = 0; b < graph.num_bonds; ++b) {
    const std::int32_t from = graph.bond_atoms[2 * b], to = graph.bond_atoms[2 * b + 1];
    if (from >= graph.num_atoms || to >= graph.num_atoms || from == to) {
      fail("bond " + std::to_string(b) + " joins atoms " + std::to_string(from) + " and " + std::to_string(to) +
           " of " + std::to_string(graph.num_atoms));
    }
    keys.push_back(static_cast<std::uint32_t>(std::min(from, to)) << 16u |
                   static_cast<std::uint32_t>(std::max(from, to)));
    const std::uint8_t* bond = graph.bonds[b];
    for (int c = 0; c < shape.bond_columns; ++c) {
      const int value = bond[c];
      if (value >= shape.bond_dims[static_cast<std::size_t>(c)]) {
        fail("bond " + std::to_string(b) + ", column " + std::to_string(c) + " has the invalid value " +
             std::to_string(value));
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) fail("two bonds join the same atoms");
}

void check_distances(const FileContext& file, std::int64_t g, const PairRelations& of_bonds,
                     const std::vector<std::uint8_t>& stored) {
  std::size_t tokens = 1;
  while (tokens * tokens < of_bonds.topology.size()) ++tokens;
  for (std::size_t i = 1, p = 0; i < tokens; ++i)
    for (std::size_t j = i + 1; j < tokens; ++j, ++p)
      if (const std::uint16_t raw = of_bonds.topology[i * tokens + j];
          stored[p] != (raw == kUnreachable ? kUnreachable8 : raw))
        throw_damaged(file, "molecule " + std::to_string(g) + ": the distance of atoms " + std::to_string(i - 1) +
                                " and " + std::to_string(j - 1) + ", " + std::to_string(stored[p]) +
                                ", does not match its bonds");
}

void check_target(const FileContext& file, const Task& task, std::size_t index, double value) {
  if (std::isnan(value)) return;
  bool possible = std::isfinite(value);
  const std::size_t targets = task.names.size();
  if (task.kind_of(index % targets) == TaskKind::binary) possible = value == 0 || value == 1;
  if (task.kind == TaskKind::multiclass) {
    possible = value >= 0 && value < task.classes && value == std::floor(value);
  }
  if (possible) return;
  throw_damaged(file, "molecule " + std::to_string(index / targets) + ": target '" +
                          task.names[index % targets].substr(0, 80) + "' has the invalid value " + number_text(value));
}

void check_bounds(const FileContext& file, const MoleculeSet& set) {
  const std::size_t targets = set.task.names.size();
  for (std::size_t i = 0; i < set.bound.size(); ++i) {
    const std::int8_t bound = set.bound[i];
    if (bound == 0) continue;
    if (bound < -1 || bound > 1 || set.task.kind_of(i % targets) != TaskKind::regression || std::isnan(set.targets[i]))
      throw_damaged(file, "molecule " + std::to_string(i / targets) + ": target '" +
                              set.task.names[i % targets].substr(0, 80) + "' has the invalid bound " +
                              std::to_string(bound));
  }
}

}  // namespace molgraph::store_layout
