// Gaussians of the resistance distance (Zhang et al. 2023, arXiv:2301.09505, section 4; docs/models/formula.md section
// 5).
#pragma once

#include <torch/torch.h>

#include "attention/reference/attention.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// sum_k weight[k] G_k(R_ij) for every pair of atoms in the same fragment, else 0; dense [P, H]. Parameters with
/// `prefix`: mean [K], width [K], weight [K, H] (spec/resistance.hpp).
PairValues resistance_values(const ParameterTree& parameters, const std::string& prefix, const GraphBatch& batch);

}  // namespace molgraph
