#include "attention/reference/graph_model.hpp"

#include <algorithm>

#include "attention/reference/dropout.hpp"
#include "attention/reference/relation_classes.hpp"
#include "attention/spec/plan_check.hpp"

namespace molgraph {

GraphModel::GraphModel(const ModelOptions& options) : plan_(model_plan(options)), specs_(parameters_of(plan_)) {
  const EncoderOptions& e = plan_.encoder;
  node = register_module("node", NodeEmbedding(plan_.features, e.width));
  if (plan_.max_degree >= 0) {
    in_degree = register_parameter("in_degree", torch::zeros({plan_.max_degree + 1, e.width}));
    out_degree = register_parameter("out_degree", torch::zeros({plan_.max_degree + 1, e.width}));
  }
  if (plan_.path_hops > 0) path = register_module("path", PathBias(plan_.features, e.heads, plan_.path_hops));
  encoder = register_module("encoder", Encoder(e, plan_.classes.topology.count(), plan_.classes.edge.count(), plan_.features));
  head = register_module("head", TaskHead(e.width, plan_.outputs, plan_.head));
  target_shift_ = register_buffer("target_shift", torch::zeros({plan_.outputs}, torch::kFloat64));
  target_scale_ = register_buffer("target_scale", torch::ones({plan_.outputs}, torch::kFloat64));
  torch::NoGradGuard no_grad;
  for (auto& item : named_parameters()) {
    const auto own = options.architecture->initial(specs_.at(item.key()), e);
    if (!own) continue;
    own->kind == Initialisation::Kind::normal ? item->normal_(0.0, own->value) : item->fill_(own->value);
  }
}

torch::Tensor GraphModel::node_input(const GraphBatch& batch, const ForwardMode& mode) {
  torch::Tensor centrality;
  if (plan_.max_degree >= 0) {
    std::vector<std::int64_t> degrees(batch.degree.begin(), batch.degree.end());
    for (auto& degree : degrees) degree = std::min<std::int64_t>(degree, plan_.max_degree);
    const torch::Tensor degree = torch::tensor(degrees, torch::kInt64);
    centrality = in_degree.index_select(0, degree) + out_degree.index_select(0, degree);
  }
  const torch::Tensor x = node->forward(batch, centrality);
  if (!mode.training || plan_.perturb_noise == 0) return x;
  const torch::Tensor noise = input_noise(batch, x.size(1), plan_.perturb_noise, mode, x.options());
  return x + noise.index_fill(0, virtual_tokens(batch), 0.0);
}

ModelOutput GraphModel::run(const GraphBatch& batch, const ForwardMode& mode) {
  check_batch(batch, plan_, needs_paths(plan_));
  const torch::Tensor x = node_input(batch, mode);
  const RelationClasses classes = relation_classes(batch, plan_.classes);
  const torch::Tensor pair_bias = path ? path->forward(batch) : torch::Tensor();
  ModelOutput output;
  const torch::Tensor states = encoder->forward(x, batch, classes, pair_bias, mode, &output.layers);
  output.scaled = head->forward(states.index_select(0, virtual_tokens(batch)));
  output.values = to_target_unit(output.scaled);
  return output;
}

void GraphModel::set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale) {
  TORCH_CHECK(shift.sizes() == target_shift_.sizes() && scale.sizes() == target_scale_.sizes(),
              "target scaling must have one shift and one scale per output");
  torch::NoGradGuard no_grad;
  target_shift_.copy_(shift);
  target_scale_.copy_(scale);
}

}  // namespace molgraph
