// Graphormer (Ying et al. 2021, arXiv:2106.05234), optionally with URPE's gate (Luo et al. 2022). Does not use
// LibTorch.
#pragma once

#include "attention/spec/model_options.hpp"

namespace molgraph {

/// Node input = embedded atom columns + centrality (in_degree and out_degree, both indexed by the same degree, as
/// published). Bias b = spatial table + edge-path bias; the virtual node's pairs share one row of the table. By
/// default, and unlike the published code, the path bias is the mean over all shortest paths (ModelOptions::path_rule).
///
/// Initial values as published: Linear N(0, 0.02/sqrt(layers)) with zero bias, tables and embeddings N(0, 0.02),
/// LayerNorm 1 and 0, gates one. Published classes: pairs farther than L share the row of unreachable pairs.
const Architecture& graphormer_architecture();

}  // namespace molgraph
