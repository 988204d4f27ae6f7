#include "featurize/graph/molecular_graph.hpp"

#include <algorithm>

namespace molgraph {

GraphView MolecularGraph::view() const {
  const FeatureShape& shape = feature_shape(features);
  return {features,
          num_atoms(),
          num_bonds(),
          {atoms.data(), static_cast<std::size_t>(shape.atom_columns)},
          {{reinterpret_cast<const std::uint8_t*>(bond_atoms.data()), 2 * sizeof(bond_atoms[0])}},
          {bonds.data(), static_cast<std::size_t>(shape.bond_columns)}};
}

MolecularGraph MolecularGraph::copy_of(const GraphView& view) {
  MolecularGraph graph;
  graph.features = view.features;
  const auto atoms = static_cast<std::size_t>(view.num_atoms), bonds = static_cast<std::size_t>(view.num_bonds);
  graph.atoms.resize(atoms * view.atoms.columns);
  graph.bond_atoms.resize(2 * bonds);
  graph.bonds.resize(bonds * view.bonds.columns);
  for (std::size_t a = 0; a < atoms; ++a)
    std::copy_n(view.atoms[a], view.atoms.columns, graph.atoms.data() + a * view.atoms.columns);
  for (std::size_t k = 0; k < 2 * bonds; ++k) graph.bond_atoms[k] = static_cast<std::uint16_t>(view.bond_atoms[k]);
  for (std::size_t b = 0; b < bonds; ++b)
    std::copy_n(view.bonds[b], view.bonds.columns, graph.bonds.data() + b * view.bonds.columns);
  return graph;
}

}  // namespace molgraph
