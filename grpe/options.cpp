#include "grpe/options.hpp"

#include <numeric>

#include "featurize/graph/error.hpp"

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

ModelPlan model_plan(const GrpeOptions& o) {
  ModelPlan plan{.features = o.features,
                 .encoder = o.encoder,
                 .classes = class_rule(o.features, o.max_distance),
                 .perturb_noise = o.perturb_noise,
                 .head = {.last_mlp = o.last_mlp},
                 .outputs = o.outputs};
  if (o.published_classes) plan.classes.maps = published_class_maps(o.features, o.max_distance);
  plan.pack = {.paths = o.encoder.gate.path_hops > 0};
  return plan;
}

void set_grpe_size(EncoderOptions& e, const std::string& name) {
  if (name == "tiny") {
    e.layers = 4, e.width = 64, e.ffn = 64, e.heads = 8;
  } else if (name == "small") {
    e.layers = 12, e.width = 80, e.ffn = 80, e.heads = 8;
  } else if (name == "standard") {
    e.layers = 12, e.width = 768, e.ffn = 768, e.heads = 32;
  } else if (name == "large") {
    e.layers = 18, e.width = 1024, e.ffn = 1024, e.heads = 32;
  } else {
    throw UsageError("there is no GRPE size '" + name + "'; the sizes are tiny, small, standard, large");
  }
}

}  // namespace molgraph
