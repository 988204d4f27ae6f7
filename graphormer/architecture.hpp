// Graphormer (Ying et al. 2021, arXiv:2106.05234), optionally with URPE's gate (Luo et al. 2022): no torch here.
#pragma once

#include "attention/spec/model_options.hpp"

namespace molgraph {

/// Node input = embedded atom columns + centrality (in_degree and out_degree, both indexed by the same degree, as
/// published); bias b = spatial table + edge-path bias; the virtual node's pairs share one row of it. Differs from the
/// published code by default in averaging over all shortest paths (ModelOptions::path_rule).
///
/// Starts as published: Linear N(0, 0.02/sqrt(layers)) with zero bias, tables and embeddings N(0, 0.02), LayerNorm 1
/// and 0, gates one. Published classes: pairs farther than L have the row of unreachable ones.
const Architecture& graphormer_architecture();

}  // namespace molgraph
