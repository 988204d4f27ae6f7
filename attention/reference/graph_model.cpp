#include "attention/reference/graph_model.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace molgraph {
namespace {

// "encoder.layers.0.gate" -> "gate"
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

void GraphModel::register_target_scaling(int outputs) {
  target_shift_ = register_buffer("target_shift", torch::zeros({outputs}, torch::kFloat64));
  target_scale_ = register_buffer("target_scale", torch::ones({outputs}, torch::kFloat64));
}

void GraphModel::set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale) {
  TORCH_CHECK(shift.sizes() == target_shift_.sizes() && scale.sizes() == target_scale_.sizes(),
              "target scaling must have one shift and one scale per output");
  torch::NoGradGuard no_grad;
  target_shift_.copy_(shift);
  target_scale_.copy_(scale);
}

bool GraphModel::is_gate(const std::string& parameter_name) const {
  return last_part(parameter_name) == "gate" || parameter_name.find(".gate_path.") != std::string::npos;
}

bool is_shared_decay_exempt(const std::string& parameter_name) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "bias",       "gate",     "spatial",    "topology_query", "topology_key",  "topology_value", "edge_query",
      "edge_key",   "edge_value", "content_bias", "position_bias",  "query_row",     "key_row",        "query_walk",
      "key_walk"};
  const std::string_view last = last_part(parameter_name);
  return std::find(kNames.begin(), kNames.end(), last) != kNames.end() || parameter_name.ends_with("_norm.weight") ||
         parameter_name.find(".gate_path.") != std::string::npos;
}

}  // namespace molgraph
