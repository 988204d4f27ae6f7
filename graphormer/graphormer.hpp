// Graphormer (Ying et al. 2021, arXiv:2106.05234), with URPE's gate (Luo et al. 2022) as an option of its encoder.
#pragma once

#include "attention/reference/encoder.hpp"
#include "attention/reference/graph_model.hpp"
#include "attention/reference/node_embedding.hpp"
#include "attention/reference/path_bias.hpp"
#include "attention/reference/relation_classes.hpp"
#include "attention/reference/task_head.hpp"
#include "graphormer/options.hpp"

namespace molgraph {

/// Node input = embedded atom columns + centrality (degree); bias b = spatial table + edge-path bias; encoder; head on
/// token 0.
///
/// Parameters: node.atom, node.virtual_node, in_degree and out_degree [max_degree + 1, C] (both indexed by the same
/// degree, as published), path.bond, path.hop_weight, encoder.*, head.*.
/// Differs from the published code by default in averaging over all shortest paths (GraphormerOptions::path_rule).
class Graphormer : public GraphModel {
 public:
  explicit Graphormer(const GraphormerOptions& options);

  ModelOutput run(const GraphBatch& batch, const ForwardMode& mode) override;
  const ModelPlan& plan() const override { return plan_; }
  bool is_decay_exempt(const std::string& parameter_name) const override;

  NodeEmbedding node{nullptr};
  torch::Tensor in_degree, out_degree;
  PathBias path{nullptr};   ///< null without GraphormerOptions::path_bias
  Encoder encoder{nullptr};
  TaskHead head{nullptr};

 private:
  GraphormerOptions options_;
  ModelPlan plan_;
};

}  // namespace molgraph
