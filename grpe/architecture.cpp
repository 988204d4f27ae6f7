#include "grpe/architecture.hpp"

#include <array>
#include <numeric>

namespace molgraph {
namespace {

constexpr std::array kSizes{ModelSize{"tiny", 4, 64, 64, 8}, ModelSize{"small", 12, 80, 80, 8},
                            ModelSize{"standard", 12, 768, 768, 32}, ModelSize{"large", 18, 1024, 1024, 32}};
constexpr std::array<std::string_view, 2> kFields{"perturb_noise", "last_mlp"};

ClassMaps published_classes(Features features, int max_distance) {
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

std::optional<Initialisation> initial(const ParameterSpec& spec, const EncoderOptions&) {
  const bool table = spec.role == ParameterRole::relation_rows || spec.role == ParameterRole::class_bias;
  return table ? std::optional(Initialisation{Initialisation::Kind::normal, 1}) : std::nullopt;
}

}  // namespace

const Architecture& grpe_architecture() {
  static const Architecture architecture{.name = "grpe",
                                         .title = "GRPE",
                                         .defaults = {.architecture = &architecture,
                                                      .encoder = {.terms = {.topology_query = true,
                                                                            .topology_key = true,
                                                                            .topology_value = true,
                                                                            .edge_query = true,
                                                                            .edge_key = true,
                                                                            .edge_value = true}},
                                                      .max_distance = 5},
                                         .sizes = kSizes,
                                         .default_size = "small",
                                         .fields = kFields,
                                         .published_classes = published_classes,
                                         .initial = initial};
  return architecture;
}

}  // namespace molgraph
