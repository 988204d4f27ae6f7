// The task head: from molecules' embeddings to outputs.
#pragma once

#include <torch/torch.h>

#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/head_options.hpp"

namespace molgraph {

/// The layers of HeadOptions, then one Linear: graph [B, C], the molecules' embeddings -> [B, outputs]. `inputs`
/// [B, D], NaN = missing, and `dropout` [B, C + D], factors or undefined, are used only if HeadOptions::inputs > 0.
/// Parameters: head.* of parameters_of().
torch::Tensor head(const ParameterTree& parameters, const HeadOptions& options, torch::Tensor graph,
                   const torch::Tensor& inputs = {}, const torch::Tensor& dropout = {});

}  // namespace molgraph
