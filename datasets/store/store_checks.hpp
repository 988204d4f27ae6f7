// What a store's numbers must be before anybody gets them. Private to this room.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/store/molecule_set.hpp"
#include "datasets/store/store_columns.hpp"
#include "featurize/graph/pair_relations.hpp"

namespace molgraph::store_layout {

/// Columns in range, bonds between two atoms of the molecule, no bond twice. `keys` is scratch. Throws FileError.
void check_graph(const FileContext& file, std::int64_t g, const GraphView& graph, std::vector<std::uint32_t>& keys);

/// True if the stored codes of pair (i, j) are possible.
bool possible_pair(std::size_t i, std::size_t j, std::uint8_t topology, std::uint8_t edge, int atoms, int bond_ids);

/// The stored distances of molecule `g`, one per pair of atoms i < j, are those of its bonds. Throws FileError.
void check_distances(const FileContext& file, std::int64_t g, const PairRelations& of_bonds,
                     const std::vector<std::uint8_t>& stored);

/// Number `index` of the targets [G, T] is one that the task can have. Throws FileError.
void check_target(const FileContext& file, const Task& task, std::size_t index, double value);

/// The bounds [G, T] are of numbers and of nothing that is missing. Throws FileError.
void check_bounds(const FileContext& file, const MoleculeSet& set);

}  // namespace molgraph::store_layout
