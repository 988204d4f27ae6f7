// GRPE (Park et al. 2022, arXiv:2201.12787), with URPE's gate (Luo et al. 2022) as an option of its encoder.
#pragma once

#include "attention/reference/encoder.hpp"
#include "attention/reference/graph_model.hpp"
#include "attention/reference/node_embedding.hpp"
#include "attention/reference/relation_classes.hpp"
#include "attention/reference/task_head.hpp"
#include "grpe/options.hpp"

namespace molgraph {

/// Node input = embedded atom columns (in training plus uniform noise on atoms); topology and edge encodings on query,
/// key and value; encoder; head on token 0. No degree term.
/// Parameters: node.atom, node.virtual_node (starts at zero), encoder.*, head.*.
class Grpe : public GraphModel {
 public:
  explicit Grpe(const GrpeOptions& options);

  ModelOutput run(const GraphBatch& batch, const ForwardMode& mode) override;
  const ModelPlan& plan() const override { return plan_; }
  bool is_decay_exempt(const std::string& parameter_name) const override;

  NodeEmbedding node{nullptr};
  Encoder encoder{nullptr};
  TaskHead head{nullptr};

 private:
  GrpeOptions options_;
  ModelPlan plan_;
};

}  // namespace molgraph
