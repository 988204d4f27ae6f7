// Graphormer's options and published sizes: no torch here.
#pragma once

#include <string>

#include "featurize/graph/graph_batch.hpp"
#include "attention/spec/model_plan.hpp"
#include "attention/spec/options.hpp"

namespace molgraph {

/// Graphormer (Ying et al. 2021, arXiv:2106.05234), optionally with URPE's gate (encoder.gate).
struct GraphormerOptions {
  Features features = Features::ogb;
  EncoderOptions encoder{.terms = {.bias = true}, .untie_virtual = false};
  int max_distance = 20;                  ///< L, the cap of the topology classes
  int max_degree = 63;                    ///< degrees above share the last row
  bool path_bias = true;                  ///< the multi-hop edge-path bias
  int path_hops = 20;                     ///< hops that count; 20 for ZINC, 5 for PCQM4M and MolHIV
  PathRule path_rule = PathRule::mean;
  int spatial_pos_max = 0;                ///< > 0: atom pairs at this distance or more are masked (v1 20, v2 1024); 0 = off
  bool published_classes = false;         ///< pairs farther than L have the row of unreachable ones, as published
  bool head_transform = false;            ///< Linear C x C, GELU, LayerNorm before the head (Graphormer v2)
  MissingRows missing;                    ///< of imported tables
  PublishedLayout published;              ///< where the weights came from
  int outputs = 1;                        ///< columns of the head
};

/// What the model consists of, for engines that know no LibTorch.
ModelPlan model_plan(const GraphormerOptions& options);

/// Sets layers, width, ffn and heads: slim 12x80/80/8, small 6x512/512/32, base 12x768/768/32, large 18x1024/1024/32.
/// Throws UsageError with the list of names.
void set_graphormer_size(EncoderOptions& encoder, const std::string& name);

}  // namespace molgraph
