// Checks of a store's numbers before they are returned. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/store/molecule_set.hpp"
#include "datasets/store/store_columns.hpp"
#include "featurize/graph/pair_relations.hpp"

namespace molgraph::store_layout {

/// Checks that columns are in range, that each bond joins two atoms of the molecule and that no bond occurs twice.
/// `keys` is scratch memory. Throws FileError.
void check_graph(const FileContext& file, std::int64_t g, const GraphView& graph, std::vector<std::uint32_t>& keys);

/// Checks that the stored distances of molecule `g`, one per pair of atoms i < j, match its bonds. Throws FileError.
void check_distances(const FileContext& file, std::int64_t g, const PairRelations& of_bonds,
                     const std::vector<std::uint8_t>& stored);

/// Checks that element `index` of the targets [G, T] is valid for the task. Throws FileError.
void check_target(const FileContext& file, const Task& task, std::size_t index, double value);

/// Checks that bounds [G, T] belong to regression values that are not missing. Throws FileError.
void check_bounds(const FileContext& file, const MoleculeSet& set);

}  // namespace molgraph::store_layout
