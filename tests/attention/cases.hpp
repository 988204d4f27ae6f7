// Cases for the tests of the reference, one term at a time. All other tests use tests/support/cases.hpp.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

#include "attention/reference/attention.hpp"
#include "featurize/graph/graph_batch.hpp"
#include "featurize/graph/vocabulary.hpp"

namespace molgraph::test {

/// Graphs of the cases, and what each one tests.
enum class Shape {
  atom,   ///< one atom: two tokens
  salt,   ///< a triangle and a single atom: UNREACHABLE pairs
  rings,  ///< two squares sharing an edge: ties between shortest paths
  chain   ///< 100 atoms in a row: FAR pairs, a large molecule
};

inline MolecularGraph graph_of(Shape shape) {
  const auto make = [](int atoms, const std::vector<std::pair<int, int>>& bonds) {
    MolecularGraph graph;
    graph.features = Features::zinc;
    for (int a = 0; a < atoms; ++a) graph.atoms.push_back(static_cast<std::uint8_t>(a % 5));
    for (std::size_t k = 0; k < bonds.size(); ++k) {
      graph.bond_atoms.push_back(bonds[k].first);
      graph.bond_atoms.push_back(bonds[k].second);
      graph.bonds.push_back(static_cast<std::uint8_t>(1 + k % 3));
    }
    return graph;
  };
  switch (shape) {
    case Shape::atom: return make(1, {});
    case Shape::salt: return make(4, {{0, 1}, {1, 2}, {2, 0}});
    case Shape::rings: return make(6, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {4, 5}, {5, 3}});
    case Shape::chain: break;
  }
  std::vector<std::pair<int, int>> bonds;
  for (int a = 1; a < 100; ++a) bonds.emplace_back(a - 1, a);
  return make(100, bonds);
}

/// Packs the graphs; molecule k has row 10 + k unless `rows` says otherwise.
inline GraphBatch batch_of(const std::vector<Shape>& shapes, std::vector<std::int64_t> rows = {}) {
  std::vector<MolecularGraph> graphs;
  for (const Shape shape : shapes) graphs.push_back(graph_of(shape));
  std::vector<GraphView> views;
  for (const MolecularGraph& graph : graphs) views.push_back(graph.view());
  if (rows.empty())
    for (std::size_t k = 0; k < shapes.size(); ++k) rows.push_back(10 + static_cast<std::int64_t>(k));
  return pack(views, rows);
}

inline constexpr TopologyClasses kTopology{3};
inline constexpr EdgeClasses kEdge{4};

/// Classes with L = 3; nothing is forbidden.
inline RelationClasses classes_of(const GraphBatch& batch) {
  std::vector<std::int64_t> topology, edge;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const std::int64_t n = batch.token_offset[b + 1] - batch.token_offset[b];
    for (std::int64_t p = 0; p < n * n; ++p) {
      topology.push_back(kTopology.of(p / n, p % n, batch.topology[batch.pair_offset[b] + p]));
      edge.push_back(kEdge.of(p / n, p % n, batch.edge[batch.pair_offset[b] + p]));
    }
  }
  return {torch::tensor(topology, torch::kInt64), torch::tensor(edge, torch::kInt64), {}};
}

/// Pairs that a case forbids.
enum class Forbidden { none, some, whole_row };

struct AttentionCase {
  std::string name;
  std::vector<Shape> shapes{Shape::atom, Shape::salt, Shape::rings};
  RelationTerms terms;
  bool tied_virtual = false;
  bool pair_bias = false;
  GateOptions gate;
  KeyTerm key_term = KeyTerm::column;
  int score_terms = 1;
  Forbidden forbidden = Forbidden::none;
  bool dropout = false;
};

/// Every table. Transformer-XL's vectors and the absolute bias have separate cases.
inline constexpr RelationTerms kAllTerms{true, true, true, true, true, true, true};

/// Every term alone, all terms together, the key rules, the variants of the gate, masks, dropout and unusual molecules.
inline std::vector<AttentionCase> attention_cases() {
  const auto term = [](bool RelationTerms::*member) {
    RelationTerms terms;
    terms.*member = true;
    return terms;
  };
  const GateOptions gate{.enabled = true}, relu{.enabled = true, .relu = true};
  return {
      {.name = "plain"},
      {.name = "bias", .terms = term(&RelationTerms::bias)},
      {.name = "bias_tied", .terms = term(&RelationTerms::bias), .tied_virtual = true},
      {.name = "pair_bias", .pair_bias = true},
      {.name = "topology_query", .terms = term(&RelationTerms::topology_query)},
      {.name = "topology_key", .terms = term(&RelationTerms::topology_key)},
      {.name = "topology_key_row", .terms = term(&RelationTerms::topology_key), .key_term = KeyTerm::row},
      {.name = "topology_value", .terms = term(&RelationTerms::topology_value)},
      {.name = "edge_query", .terms = term(&RelationTerms::edge_query)},
      {.name = "edge_key", .terms = term(&RelationTerms::edge_key)},
      {.name = "edge_value", .terms = term(&RelationTerms::edge_value)},
      {.name = "gate", .gate = gate},
      {.name = "gate_relu", .gate = relu},
      {.name = "gate_path", .gate = {.enabled = true, .path_hops = 3}},
      {.name = "gate_path_relu", .gate = {.enabled = true, .relu = true, .path_hops = 3}},
      {.name = "global_bias", .terms = {.topology_query = true, .global_bias = true}},
      {.name = "global_bias_all",
       .terms = {true, true, true, true, true, true, true, true},
       .gate = gate,
       .key_term = KeyTerm::reverse},
      {.name = "absolute_bias", .terms = term(&RelationTerms::absolute_bias)},
      {.name = "absolute_bias_all", .terms = {true, true, true, true, true, true, true, true, true}, .pair_bias = true},
      {.name = "topology_key_reverse", .terms = term(&RelationTerms::topology_key), .key_term = KeyTerm::reverse},
      {.name = "three_score_terms", .terms = kAllTerms, .key_term = KeyTerm::reverse, .score_terms = 3},
      {.name = "all_column", .terms = kAllTerms, .pair_bias = true, .gate = gate},
      {.name = "all_row", .terms = kAllTerms, .pair_bias = true, .gate = gate, .key_term = KeyTerm::row},
      {.name = "all_dropout", .terms = kAllTerms, .pair_bias = true, .gate = gate, .dropout = true},
      {.name = "one_atom", .shapes = {Shape::atom}, .terms = kAllTerms, .gate = gate},
      {.name = "salts", .shapes = {Shape::salt, Shape::salt}, .terms = kAllTerms, .gate = gate},
      {.name = "ties", .shapes = {Shape::rings}, .terms = kAllTerms, .gate = gate},
      {.name = "hundred_atoms", .shapes = {Shape::chain, Shape::atom}, .terms = kAllTerms, .gate = gate},
      {.name = "forbidden_some", .terms = kAllTerms, .gate = gate, .forbidden = Forbidden::some},
      {.name = "forbidden_row", .terms = kAllTerms, .gate = gate, .forbidden = Forbidden::whole_row},
      {.name = "forbidden_row_plain", .forbidden = Forbidden::whole_row, .dropout = true},
  };
}

inline constexpr int kHeads = 2;
inline constexpr int kHeadWidth = 3;
inline constexpr int kWidth = kHeads * kHeadWidth;
inline constexpr int kPlaceRank = 2;  ///< rank of the absolute bias
/// The row without any allowed key in Forbidden::whole_row: this token of the batch's last molecule.
inline constexpr std::int64_t kForbiddenRow = 1;

/// The relation tables by name. An undefined tensor means that the term is off.
struct CaseTables {
  torch::Tensor spatial, topology_query, topology_key, topology_value, edge_query, edge_key, edge_value, content_bias,
      position_bias;

  /// In the form that the reference takes.
  std::vector<FilledTable> filled() const {
    const std::map<std::string, torch::Tensor> by_name{
        {"spatial", spatial},           {"topology_query", topology_query},
        {"topology_key", topology_key}, {"topology_value", topology_value},
        {"edge_query", edge_query},     {"edge_key", edge_key},
        {"edge_value", edge_value},     {"content_bias", content_bias}};
    EncoderOptions all;
    all.terms = {true, true, true, true, true, true, true, true};
    std::vector<FilledTable> tables;
    for (const RelationTable& table : relation_tables(all)) {
      const torch::Tensor& rows = by_name.at(table.name);
      if (rows.defined())
        tables.push_back({table, rows, table.row == RelationTable::Row::all ? position_bias : torch::Tensor()});
    }
    return tables;
  }
};

/// Only the gate's table.
inline std::vector<FilledTable> filled_gate(const torch::Tensor& gate) {
  return {{{"gate", TermFills::gate, RelationTable::Row::topology}, gate, {}}};
}

/// All inputs of the attention, with random values. `leaves` are the differentiable inputs by name.
struct AttentionInputs {
  GraphBatch batch;
  RelationClasses classes;
  torch::Tensor qkv;  ///< [packed tokens, 3*C]
  CaseTables tables;
  torch::Tensor pair_bias, gate;
  torch::Tensor gate_path;                    ///< [P, H]
  torch::Tensor content_bias, position_bias;  ///< [1, C]: the vectors of `tables`
  torch::Tensor place_query, place_key;       ///< [packed tokens, H*kPlaceRank], factors of the absolute bias
  std::vector<std::pair<std::string, torch::Tensor>> leaves;
};

/// Deterministic: values come from a fixed seed in float64 and are then rounded to `dtype`.
inline AttentionInputs make_inputs(const AttentionCase& c, torch::Dtype dtype = torch::kFloat64) {
  AttentionInputs in;
  in.batch = batch_of(c.shapes);
  in.classes = classes_of(in.batch);
  torch::manual_seed(20220613);
  const auto leaf = [&](const char* name, bool on, std::int64_t rows, std::int64_t columns, double mean = 0) {
    const torch::Tensor value = torch::randn({rows, columns}, torch::kFloat64) + mean;  // drawn even if unused
    if (!on) return torch::Tensor();
    in.leaves.emplace_back(name, value.to(dtype).requires_grad_(true));
    return in.leaves.back().second;
  };
  const int classes = kTopology.count(), edges = kEdge.count();
  in.qkv = leaf("qkv", true, in.batch.num_tokens(), 3 * kWidth);
  in.tables.spatial = leaf("spatial", c.terms.bias, c.tied_virtual ? classes - 2 : classes, kHeads);
  in.tables.topology_query = leaf("topology_query", c.terms.topology_query, classes, kWidth);
  in.tables.topology_key = leaf("topology_key", c.terms.topology_key, classes, kWidth);
  in.tables.topology_value = leaf("topology_value", c.terms.topology_value, classes, kWidth);
  in.tables.edge_query = leaf("edge_query", c.terms.edge_query, edges, kWidth);
  in.tables.edge_key = leaf("edge_key", c.terms.edge_key, edges, kWidth);
  in.tables.edge_value = leaf("edge_value", c.terms.edge_value, edges, kWidth);
  in.pair_bias = leaf("pair_bias", c.pair_bias, in.batch.num_pairs(), kHeads);
  in.gate = leaf("gate", c.gate.enabled, classes, kHeads, 0.5);
  in.gate_path = leaf("gate_path", c.gate.path_hops > 0, in.batch.num_pairs(), kHeads);
  in.content_bias = leaf("content_bias", c.terms.global_bias, 1, kWidth);
  in.position_bias = leaf("position_bias", c.terms.global_bias, 1, kWidth);
  if (c.terms.global_bias) {
    in.tables.content_bias = in.content_bias.squeeze(0);
    in.tables.position_bias = in.position_bias.squeeze(0);
  }
  in.place_query = leaf("place_query", c.terms.absolute_bias, in.batch.num_tokens(), kHeads * kPlaceRank);
  in.place_key = leaf("place_key", c.terms.absolute_bias, in.batch.num_tokens(), kHeads * kPlaceRank);
  if (c.forbidden != Forbidden::none) {
    in.classes.forbidden = torch::zeros({in.batch.num_pairs()}, torch::kBool);
    bool* forbidden = in.classes.forbidden.data_ptr<bool>();
    for (std::int64_t p = 3; p < in.batch.num_pairs(); p += 7) forbidden[p] = true;
    if (c.forbidden == Forbidden::whole_row) {
      const auto last = static_cast<std::size_t>(in.batch.size() - 1);
      const std::int64_t n = in.batch.token_offset[last + 1] - in.batch.token_offset[last];
      for (std::int64_t j = 0; j < n; ++j) forbidden[in.batch.pair_offset[last] + kForbiddenRow * n + j] = true;
    }
  }
  return in;
}

}  // namespace molgraph::test
