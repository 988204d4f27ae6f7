// Attention rollout: each token's share in the input of the head, traced back through all layers.
#pragma once

#include <vector>

#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::formula {

/// [N], with sum 1: r A_L ... A_1, where A_l = (I + mean of a over the heads)/2, a is the softmax of layer l, and r
/// selects the input of the head from the last layer: the virtual node, or the mean of the atoms (Abnar & Zuidema 2020,
/// "Quantifying attention flow in transformers", section 3). As in the paper; it ignores the terms that these models
/// have after the softmax: gates, value-side relation terms and the values of pair states.
std::vector<double> attention_rollout(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule,
                                      const Parameters& parameters);

}  // namespace molgraph::formula
