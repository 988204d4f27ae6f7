#include "grpe/grpe.hpp"

#include <numeric>

#include "graphormer/attention/dropout.hpp"

namespace molgraph {

ClassMaps published_class_maps(Features features, int max_distance) {
  const TopologyClasses topology{max_distance};
  const EdgeClasses edge{feature_shape(features).bond_ids};
  ClassMaps maps;
  maps.topology.resize(static_cast<std::size_t>(topology.count()));
  std::iota(maps.topology.begin(), maps.topology.end(), std::int64_t{0});
  const auto tie = [](std::vector<std::int64_t>& map, int of, int with) { map[static_cast<std::size_t>(of)] = with; };
  tie(maps.topology, topology.far(), max_distance);
  tie(maps.topology, topology.virtual_to_atom(), topology.atom_to_virtual());
  tie(maps.topology, topology.virtual_self(), 0);
  maps.edge.resize(static_cast<std::size_t>(edge.count()));
  std::iota(maps.edge.begin(), maps.edge.end(), std::int64_t{0});
  tie(maps.edge, edge.self(), edge.no_edge());
  tie(maps.edge, edge.virtual_self(), edge.no_edge());
  if (features == Features::ogb) {
    for (int id = 0; id < edge.bond_ids; ++id) tie(maps.edge, id, id / 12 + 4 * (id / 2 % 6) + 16 * (id % 2));
  }
  return maps;
}

Grpe::Grpe(const GrpeOptions& options) : options_(options) {
  const EncoderOptions& e = options.encoder;
  node = register_module("node", NodeEmbedding(options.features, e.width));
  const EdgeClasses edge{feature_shape(options.features).bond_ids};
  encoder = register_module("encoder", Encoder(e, TopologyClasses{options.max_distance}.count(), edge.count(), options.features));
  head = register_module("head", TaskHead(e.width, options.outputs, HeadOptions{.last_mlp = options.last_mlp}));
  register_target_scaling(options.outputs);
  if (options.published_classes) maps_ = published_class_maps(options.features, options.max_distance);
  // PyTorch's defaults: Linear is as constructed, tables are N(0, 1).
  torch::NoGradGuard no_grad;
  for (auto& item : named_parameters()) {
    const std::string last = item.key().substr(item.key().rfind('.') + 1);
    if (last.starts_with("topology_") || last.starts_with("edge_") || last == "spatial") item.value().normal_(0.0, 1.0);
  }
}

ModelOutput Grpe::run(const GraphBatch& batch, const ForwardMode& mode) {
  torch::Tensor x = node->forward(batch);
  if (mode.training && options_.perturb_noise > 0) {
    const torch::Tensor noise = input_noise(batch, x.size(1), options_.perturb_noise, mode, x.options());
    x = x + noise.index_fill(0, virtual_tokens(batch), 0.0);
  }
  const RelationClasses classes = relation_classes(batch, options_.max_distance, maps_);
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
