// Attention rollout: from which tokens the row that the head reads is drawn, layer by layer.
#pragma once

#include <vector>

#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::formula {

/// [N], their sum 1: r A_L ... A_1 with A_l = (I + the heads' mean of a)/2, a the softmax of layer l, and r what the
/// head reads of the last layer's tokens: the virtual node, or the mean of the atoms (Abnar & Zuidema 2020,
/// "Quantifying attention flow in transformers", section 3). Differs from the paper in nothing, but leaves out what
/// these models have behind the softmax: gates and values by relation.
std::vector<double> attention_rollout(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule,
                                      const Parameters& parameters);

}  // namespace molgraph::formula
