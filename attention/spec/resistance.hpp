// Resistance distances between a molecule's atoms. spec/scalar.hpp has the Gaussians that models compute from them.
#pragma once

#include <cstdint>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// R_ij of every pair of atoms of a molecule: the resistance between them if every bond is a unit resistor (Klein &
/// Randic 1993). R = 0 for i = j, and -1 for atoms of different fragments. R <= distance, with equality if there is
/// only one path. Unlike the distance, R distinguishes bridges and cut vertices (Zhang et al. 2023, arXiv:2301.09505,
/// section 4). `out` [atoms, atoms]. Throws std::invalid_argument if the distances are not those of a graph.
void resistance_distances(const GraphBatch& batch, std::int64_t molecule, double* out);

}  // namespace molgraph
