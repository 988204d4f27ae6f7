// From the virtual node's final state to the task's outputs.
#pragma once

#include <torch/torch.h>

#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/head_options.hpp"

namespace molgraph {

/// The tail, then one Linear: graph [B, C] -> [B, outputs]. The embedding of a molecule is what goes in here.
/// `inputs` [B, D], NaN = missing, and `dropout` [B, C + D], factors or undefined, are looked at where
/// HeadOptions::inputs > 0. Parameters: head.* of parameters_of().
torch::Tensor head(const ParameterTree& parameters, const HeadOptions& options, torch::Tensor graph,
                   const torch::Tensor& inputs = {}, const torch::Tensor& dropout = {});

}  // namespace molgraph
