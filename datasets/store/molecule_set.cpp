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
  return {featurizer.features,
          static_cast<int>(atom_offset[index + 1] - atom_offset[index]),
          static_cast<int>(bond_offset[index + 1] - bond_offset[index]),
          atoms.view(static_cast<std::size_t>(atom_offset[index])),
          {bond_atoms.view(static_cast<std::size_t>(bond_offset[index]))},
          bonds.view(static_cast<std::size_t>(bond_offset[index])),
          static_cast<int>(input_names.size()),
          inputs.data() + index * input_names.size()};
}

void MoleculeSet::append_rows(std::span<const std::uint8_t> atom_rows, std::span<const std::uint16_t> atoms_of_bonds,
                              std::span<const std::uint8_t> bond_rows) {
  const FeatureShape& shape = feature_shape(featurizer.features);
  atoms.append(atom_rows, shape.atom_columns);
  const std::span<const std::byte> ends = std::as_bytes(atoms_of_bonds);
  bond_atoms.append({reinterpret_cast<const std::uint8_t*>(ends.data()), ends.size()}, 2 * sizeof(std::uint16_t));
  bonds.append(bond_rows, shape.bond_columns);
}

void MoleculeSet::add(const MolecularGraph& graph, std::int64_t source_row, const std::string& molecule_id,
                      const std::string& molecule_smiles, const std::vector<double>& values,
                      const std::vector<float>& columns, const std::vector<std::int8_t>& bounds, float row_weight) {
  assert(graph.features == featurizer.features);
  assert(values.size() == dense_targets());
  assert(graph.descriptors.size() + columns.size() == input_names.size());
  atom_offset.push_back(atom_offset.back() + graph.num_atoms());
  bond_offset.push_back(bond_offset.back() + graph.num_bonds());
  append_rows(graph.atoms, graph.bond_atoms, graph.bonds);
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
