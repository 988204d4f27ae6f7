// The plan of a model, for engines that do not use LibTorch. model_plan() makes it from ModelOptions.
#pragma once

#include "attention/spec/class_rule.hpp"
#include "attention/spec/head_options.hpp"
#include "attention/spec/options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Parameter names: node.atom, node.virtual_node, in_degree, out_degree, path.*, encoder.*, head.*.
struct ModelPlan {
  Features features = Features::ogb;
  EncoderOptions encoder;
  ClassRule classes;
  int max_degree = -1;       ///< >= 0: in- and out-degree tables; larger degrees share the last row
  int path_hops = 0;         ///< > 0: the edge-path bias over this many hops
  double perturb_noise = 0;  ///< half-width of the uniform noise on the atoms' input in training
  HeadOptions head;
  int outputs = 1;
  PackOptions pack;  ///< options for packing batches
};

}  // namespace molgraph
