// From the virtual node's final state to the task's outputs.
#pragma once

#include <torch/torch.h>

#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/head_options.hpp"

namespace molgraph {

/// The tail, then one Linear: graph [B, C] -> [B, outputs]. The embedding of a molecule is what goes in here.
/// Parameters: head.last_mlp.K.0.{weight,bias}, head.transform.{weight,bias}, head.transform_norm.{weight,bias},
/// head.linear.{weight,bias}.
torch::Tensor head(const ParameterTree& parameters, const HeadOptions& options, torch::Tensor graph);

}  // namespace molgraph
