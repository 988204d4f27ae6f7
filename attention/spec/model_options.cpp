#include "attention/spec/model_options.hpp"

#include <algorithm>
#include <stdexcept>

#include "attention/spec/plan_check.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

bool Architecture::has(std::string_view field) const {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

ModelPlan model_plan(const ModelOptions& o) {
  if (o.architecture == nullptr) throw std::invalid_argument("the model has no architecture");
  ModelPlan plan{.features = o.features,
                 .encoder = o.encoder,
                 .classes = class_rule(o.features, o.max_distance),
                 .max_degree = o.max_degree,
                 .path_hops = o.path_bias ? o.path_hops : 0,
                 .perturb_noise = o.perturb_noise,
                 .head = o.head,
                 .outputs = o.outputs};
  if (o.published_classes) plan.classes.maps = o.architecture->published_classes(o.features, o.max_distance);
  plan.classes.forbidden_distance = o.spatial_pos_max;
  plan.pack = {
      .paths = needs_paths(plan), .path_rule = o.path_rule, .inputs = o.head.inputs, .scaling = o.input_scaling};
  return plan;
}

void set_size(const Architecture& architecture, const std::string& name, EncoderOptions& encoder) {
  std::string names;
  for (const ModelSize& size : architecture.sizes) {
    if (size.name == name) {
      encoder.layers = size.layers;
      encoder.width = size.width;
      encoder.ffn = size.ffn;
      encoder.heads = size.heads;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(size.name);
  }
  throw UsageError("unknown " + std::string(architecture.title) + " size '" + name + "'; choose one of " + names);
}

}  // namespace molgraph
