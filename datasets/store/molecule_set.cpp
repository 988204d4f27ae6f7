#include "datasets/store/molecule_set.hpp"

#include <cassert>
#include <cstddef>

namespace molgraph {

GraphView MoleculeSet::graph(std::int64_t g) const {
  assert(g >= 0 && g < size());
  const auto index = static_cast<std::size_t>(g);
  const FeatureShape& shape = feature_shape(featurizer.features);
  return {featurizer.features,
          static_cast<int>(atom_offset[index + 1] - atom_offset[index]),
          static_cast<int>(bond_offset[index + 1] - bond_offset[index]),
          atoms.data() + atom_offset[index] * shape.atom_columns,
          bond_atoms.data() + bond_offset[index] * 2,
          bonds.data() + bond_offset[index] * shape.bond_columns,
          static_cast<int>(input_names.size()),
          inputs.data() + index * input_names.size()};
}

void MoleculeSet::add(const MolecularGraph& graph, std::int64_t source_row, const std::string& molecule_id,
                      const std::string& molecule_smiles, const std::vector<double>& values,
                      const std::vector<float>& columns, const std::vector<std::int8_t>& bounds, float row_weight) {
  assert(graph.features == featurizer.features);
  assert(values.size() == static_cast<std::size_t>(task.num_targets()));
  assert(graph.descriptors.size() + columns.size() == input_names.size());
  atom_offset.push_back(atom_offset.back() + graph.num_atoms());
  bond_offset.push_back(bond_offset.back() + graph.num_bonds());
  atoms.insert(atoms.end(), graph.atoms.begin(), graph.atoms.end());
  bond_atoms.insert(bond_atoms.end(), graph.bond_atoms.begin(), graph.bond_atoms.end());
  bonds.insert(bonds.end(), graph.bonds.begin(), graph.bonds.end());
  if (row_weight != 1 && weight.empty()) weight.assign(row.size(), 1);
  if (row_weight != 1 || !weight.empty()) weight.push_back(row_weight);
  row.push_back(source_row);
  id.push_back(molecule_id);
  smiles.push_back(molecule_smiles);
  if (!bounds.empty()) {
    assert(bounds.size() == values.size());
    bound.resize(targets.size());  // the first ones were exact
    bound.insert(bound.end(), bounds.begin(), bounds.end());
  }
  targets.insert(targets.end(), values.begin(), values.end());
  if (!bound.empty()) bound.resize(targets.size());
  inputs.insert(inputs.end(), graph.descriptors.begin(), graph.descriptors.end());
  inputs.insert(inputs.end(), columns.begin(), columns.end());
}

void MoleculeSet::reserve_inputs(std::int64_t molecules) {
  inputs.reserve(static_cast<std::size_t>(molecules) * input_names.size());
}

void MoleculeSet::shrink_to_fit() {
  const auto shrink = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  shrink(atom_offset, bond_offset, atoms, bond_atoms, bonds, row, id, smiles, targets, weight, bound);
  // The list that may be as large as all others is not held twice for a few rejected rows.
  if (inputs.capacity() - inputs.size() > inputs.size() / 8) inputs.shrink_to_fit();
}

}  // namespace molgraph
