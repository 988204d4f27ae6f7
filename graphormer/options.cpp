#include "graphormer/options.hpp"

#include <numeric>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

// The row that the published code ties: pairs farther than L have that of unreachable ones.
ClassMaps published_class_maps(const TopologyClasses& topology) {
  ClassMaps maps;
  maps.topology.resize(static_cast<std::size_t>(topology.count()));
  std::iota(maps.topology.begin(), maps.topology.end(), std::int64_t{0});
  maps.topology[static_cast<std::size_t>(topology.far())] = topology.unreachable();
  return maps;
}

}  // namespace

ModelPlan model_plan(const GraphormerOptions& o) {
  ModelPlan plan{.features = o.features,
                 .encoder = o.encoder,
                 .classes = class_rule(o.features, o.max_distance),
                 .max_degree = o.max_degree,
                 .path_hops = o.path_bias ? o.path_hops : 0,
                 .head = {.transform = o.head_transform},
                 .outputs = o.outputs};
  if (o.published_classes) plan.classes.maps = published_class_maps(plan.classes.topology);
  plan.classes.forbidden_distance = o.spatial_pos_max;
  plan.pack = {o.path_bias || o.encoder.gate.path_hops > 0, o.path_rule};
  return plan;
}

void set_graphormer_size(EncoderOptions& e, const std::string& name) {
  if (name == "slim") {
    e.layers = 12, e.width = 80, e.ffn = 80, e.heads = 8;
  } else if (name == "small") {
    e.layers = 6, e.width = 512, e.ffn = 512, e.heads = 32;
  } else if (name == "base") {
    e.layers = 12, e.width = 768, e.ffn = 768, e.heads = 32;
  } else if (name == "large") {
    e.layers = 18, e.width = 1024, e.ffn = 1024, e.heads = 32;
  } else {
    throw UsageError("there is no Graphormer size '" + name + "'; the sizes are slim, small, base, large");
  }
}

}  // namespace molgraph
