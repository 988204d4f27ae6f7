// The resistance distance of a molecule's atoms; spec/scalar.hpp has the Gaussians that a model sees of it.
#pragma once

#include <cstdint>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// R_ij of every pair of atoms of a molecule: the resistance between them when every bond is a resistor of 1 (Klein &
/// Randic 1993). R = 0 at i = j; -1 for atoms of different fragments. R <= distance, equal where there is one path
/// only: unlike the distance it tells whether a bond or an atom is all that holds two parts together (Zhang et al.
/// 2023, arXiv:2301.09505, section 4). `out` [atoms, atoms]. std::invalid_argument for distances that are of no graph.
void resistance_distances(const GraphBatch& batch, std::int64_t molecule, double* out);

}  // namespace molgraph
