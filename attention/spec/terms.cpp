#include "attention/spec/terms.hpp"

namespace molgraph {
namespace {

/// Adds `term` once or once per layer, with its owner's prefix.
void add_owned(PairTerm term, const std::string& part, const std::string& prefix, bool per_layer, int layers,
               std::vector<PairTerm>& to) {
  for (int layer = per_layer ? 0 : -1; layer < (per_layer ? layers : 0); ++layer) {
    term.layer = layer;
    term.prefix = owner_prefix(prefix, layer) + part + ".";
    to.push_back(term);
  }
}

}  // namespace

std::string owner_prefix(const std::string& prefix, int layer) {
  return layer < 0 ? prefix : prefix + "layers." + std::to_string(layer) + ".";
}

std::vector<RelationTable> relation_tables(const EncoderOptions& options) {
  using Row = RelationTable::Row;
  const RelationTerms& on = options.terms;
  std::vector<RelationTable> tables;
  const auto add = [&](bool exists, const char* name, TermFills fills, Row row) {
    if (exists) tables.push_back({name, fills, row});
  };
  add(on.bias, "spatial", TermFills::bias, Row::topology);
  add(on.topology_query, "topology_query", TermFills::query_rows, Row::topology);
  add(on.topology_key, "topology_key", TermFills::key_rows, Row::topology);
  add(on.topology_value, "topology_value", TermFills::value_rows, Row::topology);
  add(on.edge_query, "edge_query", TermFills::query_rows, Row::edge);
  add(on.edge_key, "edge_key", TermFills::key_rows, Row::edge);
  add(on.edge_value, "edge_value", TermFills::value_rows, Row::edge);
  add(on.global_bias, "content_bias", TermFills::key_rows, Row::all);
  add(on.walk_query, "walk_query", TermFills::query_rows, Row::walk);
  add(on.walk_key, "walk_key", TermFills::key_rows, Row::walk);
  add(on.walk_value, "walk_value", TermFills::value_rows, Row::walk);
  return tables;
}

std::vector<RelationTable> gate_tables(const EncoderOptions& options) {
  if (!options.gate.enabled) return {};
  return {{"gate", TermFills::gate, RelationTable::Row::topology}};
}

std::vector<PairTerm> encoder_pair_terms(const EncoderOptions& o, const std::string& prefix) {
  std::vector<PairTerm> terms;
  if (o.terms.absolute_bias)
    add_owned({.kind = PairTerm::Kind::absolute, .fills = TermFills::bias, .size = o.position_dim}, "absolute", prefix,
              !o.share_encodings, o.layers, terms);
  if (o.terms.resistance)
    add_owned({.kind = PairTerm::Kind::resistance, .fills = TermFills::bias, .size = o.position_dim}, "resistance",
              prefix, !o.share_encodings, o.layers, terms);
  if (o.terms.walk_bias)
    add_owned({.kind = PairTerm::Kind::walk,
               .fills = TermFills::bias,
               .size = o.pair_vector().size(),
               .vector = o.pair_vector()},
              "walk", prefix, !o.share_encodings, o.layers, terms);
  if (o.gate.enabled && o.gate.walk)
    add_owned({.kind = PairTerm::Kind::walk,
               .fills = TermFills::gate,
               .size = o.pair_vector().size(),
               .vector = o.pair_vector()},
              "gate_walk", prefix, o.gate.per_layer, o.layers, terms);
  if (o.gate.enabled && o.gate.path_hops > 0)
    add_owned({.kind = PairTerm::Kind::path, .fills = TermFills::gate, .size = o.gate.path_hops}, "gate_path", prefix,
              o.gate.per_layer, o.layers, terms);
  return terms;
}

bool weights_pair_vectors(const EncoderOptions& o) { return has_walks(o.terms) || (o.gate.enabled && o.gate.walk); }

bool uses_pair_vectors(const EncoderOptions& o) {
  return o.position == NodePosition::random_walk || weights_pair_vectors(o);
}

bool uses_position_dim(const EncoderOptions& o) {
  return o.position != NodePosition::none || o.terms.absolute_bias || o.terms.resistance || uses_pair_vectors(o);
}

bool has_walks(const RelationTerms& on) { return on.walk_bias || has_walk_rows(on); }

bool has_walk_rows(const RelationTerms& on) { return on.walk_query || on.walk_key || on.walk_value; }

std::vector<PairTerm> pair_terms(const ModelPlan& plan) {
  std::vector<PairTerm> terms;
  if (plan.path_hops > 0) terms.push_back({.kind = PairTerm::Kind::path, .prefix = "path.", .size = plan.path_hops});
  for (PairTerm& term : encoder_pair_terms(plan.encoder, "encoder.")) terms.push_back(std::move(term));
  return terms;
}

}  // namespace molgraph
