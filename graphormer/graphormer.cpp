#include "graphormer/graphormer.hpp"

#include <algorithm>
#include <cmath>

#include "attention/spec/plan_check.hpp"

namespace molgraph {
namespace {

/// Linear N(0, 0.02/sqrt(layers)) with zero bias; tables and embeddings N(0, 0.02); LayerNorm 1 and 0; gates one. The
/// gate's path term and the absolute bias stay as constructed.
void initialise(torch::nn::Module& module, int layers) {
  torch::NoGradGuard no_grad;
  for (auto& item : module.named_parameters()) {
    const std::string& name = item.key();
    torch::Tensor& value = item.value();
    if (name.find(".gate_path.") != std::string::npos || name.find(".absolute.") != std::string::npos) continue;
    if (name.ends_with("_norm.weight") || name.ends_with("gate")) {
      value.fill_(1.0);
    } else if (name.ends_with("bias")) {
      value.zero_();
    } else if (name.ends_with(".weight")) {
      value.normal_(0.0, 0.02 / std::sqrt(static_cast<double>(layers)));
    } else {
      value.normal_(0.0, 0.02);
    }
  }
}

}  // namespace

Graphormer::Graphormer(const GraphormerOptions& options) : options_(options), plan_(model_plan(options)) {
  const EncoderOptions& e = options.encoder;
  node = register_module("node", NodeEmbedding(options.features, e.width));
  in_degree = register_parameter("in_degree", torch::empty({options.max_degree + 1, e.width}));
  out_degree = register_parameter("out_degree", torch::empty({options.max_degree + 1, e.width}));
  if (options.path_bias) path = register_module("path", PathBias(options.features, e.heads, options.path_hops));
  encoder = register_module("encoder", Encoder(e, plan_.classes.topology.count(), plan_.classes.edge.count(), options.features));
  head = register_module("head", TaskHead(e.width, options.outputs, plan_.head));
  register_target_scaling(options.outputs);
  initialise(*this, e.layers);
}

ModelOutput Graphormer::run(const GraphBatch& batch, const ForwardMode& mode) {
  check_batch(batch, plan_, needs_paths(plan_));
  std::vector<std::int64_t> degrees(batch.degree.begin(), batch.degree.end());
  for (auto& degree : degrees) degree = std::min<std::int64_t>(degree, options_.max_degree);
  const torch::Tensor degree = torch::tensor(degrees, torch::kInt64);
  const torch::Tensor centrality = in_degree.index_select(0, degree) + out_degree.index_select(0, degree);
  const RelationClasses classes = relation_classes(batch, plan_.classes);
  const torch::Tensor pair_bias = path ? path->forward(batch) : torch::Tensor();

  ModelOutput output;
  const torch::Tensor states =
      encoder->forward(node->forward(batch, centrality), batch, classes, pair_bias, mode, &output.layers);
  output.scaled = head->forward(states.index_select(0, virtual_tokens(batch)));
  output.values = to_target_unit(output.scaled);
  return output;
}

bool Graphormer::is_decay_exempt(const std::string& name) const {
  return is_shared_decay_exempt(name) || name.starts_with("node.") || name.starts_with("path.") ||
         name.ends_with("_degree");
}

}  // namespace molgraph
