// What a model of the toolkit consists of, for engines that know no LibTorch. Graphormer and GRPE each fill one in.
#pragma once

#include "attention/spec/class_rule.hpp"
#include "attention/spec/head_options.hpp"
#include "attention/spec/options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Parameters have the modules' names: node.atom, node.virtual_node, in_degree, out_degree, path.*, encoder.*, head.*.
struct ModelPlan {
  Features features = Features::ogb;
  EncoderOptions encoder;
  ClassRule classes;
  int max_degree = -1;       ///< >= 0: in- and out-degree tables, larger degrees share the last row
  int path_hops = 0;         ///< > 0: the edge-path bias over so many hops
  double perturb_noise = 0;  ///< width of the uniform noise on atoms' input in training
  HeadOptions head;
  int outputs = 1;
  PackOptions pack;  ///< what a batch has to be packed with
};

}  // namespace molgraph
