// The input of the encoder: embedded atom columns, degrees and noise; a learned vector for the virtual node.
#pragma once

#include <torch/torch.h>

#include "attention/reference/forward_mode.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// [tokens, C]: token 0 of each molecule is node.virtual_node. An atom's row is the sum of the rows of its columns in
/// node.atom, of the rows of its degree in in_degree and out_degree (both indexed by the same degree, as published)
/// and, in training, of the noise of ModelPlan::perturb_noise.
torch::Tensor node_input(const ParameterTree& parameters, const ModelPlan& plan, const GraphBatch& batch,
                         const ForwardMode& mode);

/// [B] int64: packed index of each molecule's token 0.
torch::Tensor virtual_tokens(const GraphBatch& batch);

}  // namespace molgraph
