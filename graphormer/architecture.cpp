#include "graphormer/architecture.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace molgraph {
namespace {

constexpr std::array kSizes{ModelSize{"slim", 12, 80, 80, 8}, ModelSize{"small", 6, 512, 512, 32},
                            ModelSize{"base", 12, 768, 768, 32}, ModelSize{"large", 18, 1024, 1024, 32}};
constexpr std::array<std::string_view, 6> kFields{"max_degree", "path_bias",       "path_hops",
                                                  "path_rule",  "spatial_pos_max", "head_transform"};

ClassMaps published_classes(Features, int max_distance) {
  const TopologyClasses topology{max_distance};
  ClassMaps maps;
  maps.topology.resize(static_cast<std::size_t>(topology.count()));
  std::iota(maps.topology.begin(), maps.topology.end(), std::int64_t{0});
  maps.topology[static_cast<std::size_t>(topology.far())] = topology.unreachable();
  return maps;
}

std::optional<Initialisation> initial(const ParameterSpec& spec, const EncoderOptions& encoder) {
  using Kind = Initialisation::Kind;
  constexpr double kDeviation = 0.02;
  switch (spec.role) {
    case ParameterRole::linear_weight:
      return Initialisation{Kind::normal, kDeviation / std::sqrt(static_cast<double>(encoder.layers))};
    case ParameterRole::linear_bias: return Initialisation{};
    case ParameterRole::embedding:
    case ParameterRole::class_bias:
    case ParameterRole::relation_rows: return Initialisation{Kind::normal, kDeviation};
    case ParameterRole::pair_term:  // only Graphormer's path bias; other terms keep ParameterSpec::initial
      return spec.name.starts_with("path.") ? std::optional(Initialisation{Kind::normal, kDeviation}) : std::nullopt;
    default: return {};
  }
}

}  // namespace

const Architecture& graphormer_architecture() {
  static const Architecture architecture{.name = "graphormer",
                                         .title = "Graphormer",
                                         .defaults = {.architecture = &architecture,
                                                      .encoder = {.terms = {.bias = true}, .untie_virtual = false},
                                                      .max_distance = 20,
                                                      .max_degree = 63,
                                                      .path_bias = true,
                                                      .path_hops = 20},  // for ZINC; 5 for PCQM4M and MolHIV
                                         .sizes = kSizes,
                                         .default_size = "slim",
                                         .fields = kFields,
                                         .published_classes = published_classes,
                                         .initial = initial};
  return architecture;
}

}  // namespace molgraph
