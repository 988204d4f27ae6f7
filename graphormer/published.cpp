#include "graphormer/published.hpp"

#include <numeric>

#include "featurize/graph/error.hpp"
#include "graphormer/architecture.hpp"

namespace molgraph {
namespace {

constexpr int kOgbAtoms = 512 * 9 + 1, kOgbBonds = 512 * 3 + 1, kZincRows = 64;
constexpr int kAtomShift = 2, kBondShift = 3;  // rows before the first value: padding and v1's shifts

/// Prefixes and names that differ between the layouts.
struct Names {
  std::string node, bias, layers, virtual_node;
  PublishedBlock block;
};

Names names_of(const PublishedLayout& layout) {
  if (layout.origin == "graphormer-v1") return {"", "", "layers.", "graph_token.weight", plain_block()};
  const std::string encoder = "encoder.graph_encoder.";
  PublishedBlock block{"self_attn_layer_norm",
                       "final_layer_norm",
                       "self_attn.q_proj",
                       "self_attn.k_proj",
                       "self_attn.v_proj",
                       "self_attn.out_proj",
                       "fc1",
                       "fc2"};
  if (layout.fused_projection) block.query = block.key = block.value = "self_attn.in_proj";
  return {encoder + "graph_node_feature.", encoder + "graph_attn_bias.", encoder + "layers.",
          encoder + "graph_node_feature.graph_token.weight", block};
}

Features features_of(const PublishedLayout& layout, const PublishedImport& import, const std::string& where) {
  const bool ogb = layout.atoms == kOgbAtoms && layout.bonds == kOgbBonds;
  const bool zinc = layout.atoms == kZincRows && layout.bonds == kZincRows;
  if (!ogb && !zinc)
    throw FileError(where + ": the atom and bond tables have " + std::to_string(layout.atoms) + " and " +
                    std::to_string(layout.bonds) + " rows; expected 4609 and 1537 (ogb) or 64 and 64 (zinc)");
  const Features found = ogb ? Features::ogb : Features::zinc;
  if (import.features.value_or(found) != found)
    throw UsageError("--features " + std::string(to_string(*import.features)) +
                     " contradicts the tables, whose features are " + std::string(to_string(found)));
  return found;
}

void link_v2_head(PublishedLinks& links, const ModelOptions& o) {
  const std::int64_t width = o.encoder.width;
  const std::string head = o.published.origin == "graphormer-hf" ? "classifier." : "encoder.";
  links.linear("encoder.lm_head_transform_weight", "head.transform", width, width);
  links.linear("encoder.layer_norm", "head.transform_norm", width, 0);
  links.same(head + (o.published.origin == "graphormer-hf" ? "classifier.weight" : "embed_out.weight"),
             {o.outputs, width}, "head.linear.weight");
  // One learned bias for all outputs.
  links.links_.push_back({head + "lm_output_learned_bias",
                          {1},
                          1,
                          "head.linear.bias",
                          0,
                          std::vector<std::int64_t>(static_cast<std::size_t>(o.outputs), 0)});
  if (o.published.origin == "graphormer-v2") {
    links.unused("encoder.masked_lm_pooler.weight", {width, width});
    links.unused("encoder.masked_lm_pooler.bias", {width});
  }
  if (!o.encoder.post_ln) {
    links.unused("encoder.graph_encoder.final_layer_norm.weight", {width}, 1.0);
    links.unused("encoder.graph_encoder.final_layer_norm.bias", {width});
  }
}

ModelOptions published_options(const StateDict& state, const PublishedImport& import, const std::string& where) {
  ModelOptions o = graphormer_architecture().defaults;
  PublishedLayout& layout = o.published;
  EncoderOptions& e = o.encoder;
  layout.origin = import.origin;
  const bool v1 = import.origin == "graphormer-v1";
  Names names = names_of(layout);
  layout.fused_projection = !v1 && state.contains(names.layers + "0.self_attn.in_proj_weight");
  names = names_of(layout);
  const auto size = [&](const std::string& name, int dim) {
    return static_cast<int>(published_size(state, name, dim, where));
  };

  layout.atoms = size(names.node + "atom_encoder.weight", 0);
  layout.bonds = size(names.bias + "edge_encoder.weight", 0);
  layout.degrees = size(names.node + "in_degree_encoder.weight", 0);
  layout.distances = size(names.bias + "spatial_pos_encoder.weight", 0);
  e.width = size(names.node + "atom_encoder.weight", 1);
  e.heads = size(names.bias + "edge_encoder.weight", 1);
  e.layers = published_layers(state, names.layers);
  e.ffn = size(names.layers + "0." + names.block.linear1 + ".weight", 0);
  if (import.heads != 0 && import.heads != e.heads)
    throw UsageError("--heads " + std::to_string(import.heads) +
                     " contradicts the edge table, whose number of heads is " + std::to_string(e.heads));
  if (e.heads < 1 || e.width % e.heads != 0)
    throw FileError(where + ": the width " + std::to_string(e.width) + " is not divisible by the number of heads, " +
                    std::to_string(e.heads));
  layout.hops = size(names.bias + "edge_dis_encoder.weight", 0) / (e.heads * e.heads);
  o.features = features_of(layout, import, where);

  // Rows: 0 is padding, then distances 0, 1, ... In tables of 512 rows, the last is for unreachable pairs; tables of 40
  // rows have no such row.
  const bool has_unreachable = layout.distances > 40;
  const int longest = layout.distances - (has_unreachable ? 3 : 2);
  o.max_distance = import.max_distance != 0 ? import.max_distance : longest;
  if (o.max_distance < 1 || o.max_distance > longest)
    throw UsageError("--max-distance must lie between 1 and " + std::to_string(longest) + " for this table");
  o.max_degree = layout.degrees - 2;
  const TopologyClasses topology{o.max_distance};
  if (!has_unreachable) o.missing.topology = {topology.far(), topology.unreachable()};
  o.path_hops = import.path_hops != 0 ? import.path_hops : o.features == Features::zinc ? 20 : 5;
  if (o.path_hops < 1 || o.path_hops > layout.hops)
    throw UsageError("--path-hops must lie between 1 and " + std::to_string(layout.hops) + " for this table");
  o.path_rule = PathRule::single;
  o.spatial_pos_max = import.spatial_pos_max;
  o.published_classes = true;

  if (v1) {
    layout.head = state.contains("downstream_out_proj.weight") ? "downstream_out_proj" : "out_proj";
    o.outputs = size(layout.head + ".weight", 0);
    return o;
  }
  e.input_norm = state.contains("encoder.graph_encoder.emb_layer_norm.weight");
  e.post_ln = !state.contains("encoder.graph_encoder.final_layer_norm.weight");
  e.final_norm = false;  // v2's pre-LN files contain one, but its forward pass does not apply it
  o.head.transform = true;
  o.outputs = size(import.origin == "graphormer-hf" ? "classifier.classifier.weight" : "encoder.embed_out.weight", 0);
  return o;
}

std::vector<PublishedLink> published_links(const ModelOptions& o) {
  const EncoderOptions& e = o.encoder;
  const PublishedLayout& layout = o.published;
  const Names names = names_of(layout);
  PublishedLinks links;
  links.rows(names.node + "atom_encoder.weight", layout.atoms, e.width, "node.atom",
             published_column_rows(atom_dims_of(o.features), kAtomShift, layout.atoms));
  links.same(names.virtual_node, {1, e.width}, "node.virtual_node");
  std::vector<std::int64_t> after_padding(static_cast<std::size_t>(o.max_degree) + 1);
  std::iota(after_padding.begin(), after_padding.end(), 1);
  links.rows(names.node + "in_degree_encoder.weight", layout.degrees, e.width, "in_degree", after_padding);
  links.rows(names.node + "out_degree_encoder.weight", layout.degrees, e.width, "out_degree", after_padding);

  links.rows(names.bias + "edge_encoder.weight", layout.bonds, e.heads, "path.bond",
             published_column_rows(bond_dims_of(o.features), kBondShift, layout.bonds));
  const std::int64_t square = static_cast<std::int64_t>(e.heads) * e.heads;
  std::vector<std::int64_t> hops(static_cast<std::size_t>(o.path_hops));
  std::iota(hops.begin(), hops.end(), 0);
  links.links_.push_back(
      {names.bias + "edge_dis_encoder.weight", {layout.hops * square, 1}, square, "path.hop_weight", 0, hops});

  const TopologyClasses topology{o.max_distance};
  std::vector<std::int64_t> spatial(static_cast<std::size_t>(o.max_distance) + 1);
  std::iota(spatial.begin(), spatial.end(), 1);
  spatial.push_back(-1);  // FAR shares the row of UNREACHABLE through the model's class map
  spatial.push_back(o.missing.topology.empty() ? layout.distances - 1 : -1);
  links.rows(names.bias + "spatial_pos_encoder.weight", layout.distances, e.heads, "encoder.spatial", spatial);
  links.rows(names.bias + "graph_token_virtual_distance.weight", 1, e.heads, "encoder.spatial", {0},
             topology.atom_to_virtual());

  link_block(links, names.block, names.layers, e);
  if (layout.origin == "graphormer-v1") {
    links.linear("final_ln", "encoder.final_norm", e.width, 0);
    links.linear(layout.head, "head.linear", o.outputs, e.width);
  } else {
    if (e.input_norm) links.linear("encoder.graph_encoder.emb_layer_norm", "encoder.input_norm", e.width, 0);
    link_v2_head(links, o);
  }
  return links.all();
}

}  // namespace

const std::vector<PublishedCode>& graphormer_published() {
  static const std::vector<PublishedCode> all{{"graphormer-v1", published_options, published_links},
                                              {"graphormer-v2", published_options, published_links},
                                              {"graphormer-hf", published_options, published_links}};
  return all;
}

}  // namespace molgraph
