#include "grpe/published.hpp"

#include <numeric>

#include "featurize/graph/error.hpp"
#include "grpe/architecture.hpp"

namespace molgraph {
namespace {

constexpr int kOgbAtoms = 512 * 9 + 1;
constexpr int kAtomShift = 1;
constexpr int kNamedEdges = 4;  // TASK, SELF and NO_EDGE after the bond types, and one row that is never used

ModelOptions published_options(const StateDict& state, const PublishedImport& import, const std::string& where) {
  if (import.path_hops != 0 || import.spatial_pos_max != 0)
    throw UsageError("--path-hops and --spatial-pos-max apply only to Graphormer origins");
  ModelOptions o = grpe_architecture().defaults;
  PublishedLayout& layout = o.published;
  EncoderOptions& e = o.encoder;
  const auto size = [&](const std::string& name, int dim) {
    return static_cast<int>(published_size(state, name, dim, where));
  };
  layout.origin = "grpe";
  layout.atoms = size("node_emb.weight", 0);
  layout.bonds = size("query_edge_emb.weight", 0);
  layout.distances = size("query_hop_emb.weight", 0);
  e.width = size("node_emb.weight", 1);
  e.layers = published_layers(state, "layers.");
  e.ffn = size("layers.0.ffn.layer1.weight", 0);
  if (import.heads == 0) throw UsageError("--heads is needed: GRPE's tables do not determine the number of heads");
  e.heads = import.heads;
  if (e.heads < 1 || e.width % e.heads != 0)
    throw UsageError("--heads " + std::to_string(e.heads) + " does not divide the width " + std::to_string(e.width));
  o.features = layout.atoms == kOgbAtoms ? Features::ogb : Features::zinc;
  if (import.features.value_or(o.features) != o.features)
    throw UsageError("--features " + std::string(to_string(*import.features)) +
                     " contradicts the node table, which has " + std::to_string(layout.atoms) + " rows");
  o.max_distance = layout.distances - 3;
  if (o.max_distance < 1)
    throw FileError(where + ": the hop table has only " + std::to_string(layout.distances) + " rows");
  if (import.max_distance != 0 && import.max_distance != o.max_distance)
    throw UsageError("--max-distance contradicts the hop tables, which have L = " + std::to_string(o.max_distance));
  if (layout.bonds <= kNamedEdges)
    throw FileError(where + ": the edge table has only " + std::to_string(layout.bonds) + " rows");
  e.key_term = KeyTerm::row;
  o.published_classes = true;
  o.head.last_mlp = published_layers(state, "last_mlp.");
  o.outputs = size("linear.weight", 0);

  const std::vector<std::int64_t> atoms = published_column_rows(atom_dims_of(o.features), kAtomShift, layout.atoms);
  for (std::size_t k = 0; k < atoms.size(); ++k) {
    if (atoms[k] < 0) o.missing.atoms.push_back(static_cast<int>(k));
  }
  const std::vector<std::int64_t> edge = grpe_architecture().published_classes(o.features, o.max_distance).edge;
  for (int id = 0; id < feature_shape(o.features).bond_ids; ++id) {
    if (edge[static_cast<std::size_t>(id)] >= layout.bonds - kNamedEdges) o.missing.bonds.push_back(id);
  }
  return o;
}

std::vector<PublishedLink> published_links(const ModelOptions& o) {
  const EncoderOptions& e = o.encoder;
  const PublishedLayout& layout = o.published;
  PublishedLinks links;
  links.rows("node_emb.weight", layout.atoms, e.width, "node.atom",
             published_column_rows(atom_dims_of(o.features), kAtomShift, layout.atoms));
  links.same("task_token.weight", {1, e.width}, "node.virtual_node");

  // Classes that the model's class maps replace do not have their own row.
  const int types = layout.bonds - kNamedEdges, ids = feature_shape(o.features).bond_ids;
  std::vector<std::int64_t> topology(static_cast<std::size_t>(o.max_distance) + 1);
  std::iota(topology.begin(), topology.end(), 0);
  topology.insert(topology.end(), {-1, o.max_distance + 2, o.max_distance + 1, -1, -1});  // FAR, UNREACHABLE, TASK, ...
  std::vector<std::int64_t> edge;
  for (int id = 0; id < ids; ++id) edge.push_back(id < types ? id : -1);
  edge.insert(edge.end(), {types + 3, -1, types + 1, -1});  // NO_EDGE, SELF, VIRTUAL = TASK, VIRTUAL_SELF
  for (const char* part : {"query", "key", "value"}) {
    const std::string name = part;
    links.rows(name + "_hop_emb.weight", layout.distances, e.width, "encoder.topology_" + name, topology);
    links.rows(name + "_edge_emb.weight", layout.bonds, e.width, "encoder.edge_" + name, edge);
  }
  link_block(links, plain_block(), "layers.", e);
  links.linear("final_ln", "encoder.final_norm", e.width, 0);
  for (int k = 0; k < o.head.last_mlp; ++k) {
    const std::string name = "last_mlp." + std::to_string(k) + ".0";
    links.linear(name, "head." + name, e.width, e.width);
  }
  links.linear("linear", "head.linear", o.outputs, e.width);
  return links.all();
}

}  // namespace

const std::vector<PublishedCode>& grpe_published() {
  static const std::vector<PublishedCode> all{{"grpe", published_options, published_links}};
  return all;
}

}  // namespace molgraph
