#include "grpe/grpe.hpp"

#include "attention/reference/dropout.hpp"
#include "attention/spec/plan_check.hpp"

namespace molgraph {

Grpe::Grpe(const GrpeOptions& options) : options_(options), plan_(model_plan(options)) {
  const EncoderOptions& e = options.encoder;
  node = register_module("node", NodeEmbedding(options.features, e.width));
  encoder = register_module("encoder", Encoder(e, plan_.classes.topology.count(), plan_.classes.edge.count(), options.features));
  head = register_module("head", TaskHead(e.width, options.outputs, plan_.head));
  register_target_scaling(options.outputs);
  // PyTorch's defaults: Linear is as constructed, tables are N(0, 1).
  torch::NoGradGuard no_grad;
  for (auto& item : named_parameters()) {
    const std::string last = item.key().substr(item.key().rfind('.') + 1);
    if (last.starts_with("topology_") || last.starts_with("edge_") || last == "spatial") item.value().normal_(0.0, 1.0);
  }
}

ModelOutput Grpe::run(const GraphBatch& batch, const ForwardMode& mode) {
  check_batch(batch, plan_, needs_paths(plan_));
  torch::Tensor x = node->forward(batch);
  if (mode.training && options_.perturb_noise > 0) {
    const torch::Tensor noise = input_noise(batch, x.size(1), options_.perturb_noise, mode, x.options());
    x = x + noise.index_fill(0, virtual_tokens(batch), 0.0);
  }
  const RelationClasses classes = relation_classes(batch, plan_.classes);
  ModelOutput output;
  const torch::Tensor states = encoder->forward(x, batch, classes, {}, mode, &output.layers);
  output.scaled = head->forward(states.index_select(0, virtual_tokens(batch)));
  output.values = to_target_unit(output.scaled);
  return output;
}

bool Grpe::is_decay_exempt(const std::string& name) const {
  return is_shared_decay_exempt(name) || name.starts_with("node.");
}

}  // namespace molgraph
