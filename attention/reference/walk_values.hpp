// Random walks between two atoms (Ma et al. 2023, arXiv:2305.17589, section 3.1; docs/models/formula.md section 5).
#pragma once

#include <torch/torch.h>

#include "attention/reference/attention.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// r of every pair [P, vector.size()] (spec/pair_vector.hpp), float64; zero for pairs with the virtual node.
torch::Tensor pair_walks(const GraphBatch& batch, const PairVector& vector);

/// sum_t weight[t] r_ij[t] for every pair; dense [P, H]. `weight` [vector.size(), H], `walks` [P, vector.size()].
PairValues walk_values(const torch::Tensor& weight, const torch::Tensor& walks);

}  // namespace molgraph
