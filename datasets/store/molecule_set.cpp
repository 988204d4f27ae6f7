#include "datasets/store/molecule_set.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace molgraph {

void SparseLabels::add(const std::vector<SparseLabel>& labels, float weight_of_molecule) {
  if (weight_of_molecule != 1 && weight.empty()) weight.assign(molecules(), 1);
  if (!weight.empty()) weight.push_back(weight_of_molecule);
  for (const SparseLabel& label : labels) {
    assert(label.target < targets);
    if (label.bound != 0) bound.resize(target.size());  // earlier labels are exact
    target.push_back(label.target);
    value.push_back(label.value);
    if (label.bound != 0 || !bound.empty()) bound.push_back(label.bound);
  }
  offset.push_back(static_cast<std::int64_t>(target.size()));
}

std::int64_t SparseLabels::find(std::size_t g, std::size_t target_wanted) const {
  const auto first = target.begin() + offset[g], last = target.begin() + offset[g + 1];
  const auto found = std::lower_bound(first, last, target_wanted);
  return found != last && *found == target_wanted ? found - target.begin() : -1;
}

MoleculeSet::Found MoleculeSet::label_at(std::size_t at) const {
  const std::size_t dense = dense_targets(), g = at / task.names.size(), t = at % task.names.size();
  if (t < dense) {
    const std::size_t place = g * dense + t;
    return {computed_targets.empty() ? targets[place] : static_cast<double>(computed_targets[place]),
            bound.empty() ? std::int8_t{0} : bound[place]};
  }
  const std::int64_t found = sparse.find(g, t - dense);
  if (found < 0) return {};
  const auto place = static_cast<std::size_t>(found);
  return {static_cast<double>(sparse.value[place]), sparse.bound.empty() ? std::int8_t{0} : sparse.bound[place]};
}

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
  assert(values.size() == dense_targets());
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
    bound.resize(targets.size());  // earlier labels are exact
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
  shrink(sparse.offset, sparse.target, sparse.value, sparse.bound, sparse.weight);
  // The list of inputs may be as large as all others together: it is not copied to save a few rejected rows.
  if (inputs.capacity() - inputs.size() > inputs.size() / 8) inputs.shrink_to_fit();
}

}  // namespace molgraph
