#include "attention/cpu/terms.hpp"

#include <algorithm>

namespace molgraph::cpu {
namespace {

// Calls visit(pair, topology class) for all pairs of the pack.
template <class Visit>
void for_each_class(const Pack& pack, Visit visit) {
  for (const MoleculeRelations& molecule : pack.molecules) {
    const std::size_t end = molecule.first_pair + molecule.tokens * molecule.tokens;
    for (std::size_t p = molecule.first_pair; p < end; ++p) visit(p, std::size_t{molecule.topology[pack.relation[p]]});
  }
}

void add(const float* from, float* to, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) to[c] += from[c];
}

}  // namespace

// Row m: the topology table's row of the relation, plus the edge table's, plus a vector for all.
void PackTerms::load_rows(const Pack& pack, const float* topology, const float* edge, const float* everywhere,
                          std::vector<float>& rows) const {
  if (topology == nullptr && edge == nullptr && everywhere == nullptr) return rows.clear();
  rows.assign(first_relation_.back() * shape_.inner, 0.0f);
  float* row = rows.data();
  for (const MoleculeRelations& molecule : pack.molecules)
    for (std::size_t m = 0; m < molecule.count(); ++m, row += shape_.inner) {
      if (topology != nullptr) add(topology + molecule.topology[m] * shape_.inner, row, shape_.inner);
      if (edge != nullptr) add(edge + molecule.edge[m] * shape_.inner, row, shape_.inner);
      if (everywhere != nullptr) add(everywhere, row, shape_.inner);
    }
}

void PackTerms::scatter_rows(const Pack& pack, const std::vector<float>& rows, std::size_t topology, std::size_t edge,
                             std::size_t everywhere, float* flat) const {
  if (rows.empty()) return;
  const float* row = rows.data();
  for (const MoleculeRelations& molecule : pack.molecules)
    for (std::size_t m = 0; m < molecule.count(); ++m, row += shape_.inner) {
      if (topology != kNone) add(row, flat + topology + molecule.topology[m] * shape_.inner, shape_.inner);
      if (edge != kNone) add(row, flat + edge + molecule.edge[m] * shape_.inner, shape_.inner);
      if (everywhere != kNone) add(row, flat + everywhere, shape_.inner);
    }
}

void PackTerms::load(const EncoderWeights& weights, const TableOffsets& tables, const Pack& pack, const float* pair_bias) {
  first_relation_.assign(1, 0);
  for (const MoleculeRelations& molecule : pack.molecules) first_relation_.push_back(first_relation_.back() + molecule.count());
  load_rows(pack, weights.at(tables.topology_query), weights.at(tables.edge_query), nullptr, rows_.query);
  load_rows(pack, weights.at(tables.topology_key), weights.at(tables.edge_key), weights.at(tables.content_bias), rows_.key);
  load_rows(pack, weights.at(tables.topology_value), weights.at(tables.edge_value), nullptr, rows_.value);

  const std::size_t heads = shape_.heads, floats = pack.pairs * heads;
  const float* spatial = weights.at(tables.spatial);
  if (spatial == nullptr && pair_bias == nullptr && pack.forbidden.empty()) return rows_.bias.clear();
  if (pair_bias != nullptr) rows_.bias.assign(pair_bias, pair_bias + floats);
  else rows_.bias.assign(floats, 0.0f);
  if (spatial != nullptr)
    for_each_class(pack, [&](std::size_t p, std::size_t t) { add(spatial + t * heads, rows_.bias.data() + p * heads, heads); });
  for (std::size_t p = 0; p < pack.forbidden.size(); ++p)
    if (pack.forbidden[p] != 0) std::fill_n(rows_.bias.data() + p * heads, heads, kForbidden);
}

void PackTerms::load_gate(const EncoderWeights& weights, const TableOffsets& tables, const Pack& pack, const float* pair_gate) {
  const float* gate = weights.at(tables.gate);
  if (gate == nullptr) return;
  const std::size_t heads = shape_.heads, floats = pack.pairs * heads;
  if (pair_gate != nullptr) rows_.gate.assign(pair_gate, pair_gate + floats);
  else rows_.gate.assign(floats, 0.0f);
  for_each_class(pack, [&](std::size_t p, std::size_t t) { add(gate + t * heads, rows_.gate.data() + p * heads, heads); });
  if (shape_.options.gate.relu)
    for (float& value : rows_.gate) value = std::max(value, 0.0f);
}

void PackTerms::fill(const Pack& pack, std::size_t molecule, Attention& attention) const {
  const MoleculeRelations& of = pack.molecules[molecule];
  const auto rows = [&](const std::vector<float>& x) {
    return x.empty() ? nullptr : x.data() + first_relation_[molecule] * shape_.inner;
  };
  const auto pairs = [&](const std::vector<float>& x) { return x.empty() ? nullptr : x.data() + of.first_pair * shape_.heads; };
  attention.relations = of.count();
  attention.relation = pack.relation.data() + of.first_pair;
  attention.key_relation = pack.reversed.empty() ? attention.relation : pack.reversed.data() + of.first_pair;
  attention.key_by_row = shape_.options.key_term == KeyTerm::row;
  attention.query_rows = rows(rows_.query);
  attention.key_rows = rows(rows_.key);
  attention.value_rows = rows(rows_.value);
  attention.bias = pairs(rows_.bias);
  attention.gate = pairs(rows_.gate);
}

void PackTerms::fill(const Pack& pack, std::size_t molecule, AttentionGradient& gradient) {
  const MoleculeRelations& of = pack.molecules[molecule];
  const auto rows = [&](std::vector<float>& x) { return x.empty() ? nullptr : x.data() + first_relation_[molecule] * shape_.inner; };
  const auto pairs = [&](std::vector<float>& x) { return x.empty() ? nullptr : x.data() + of.first_pair * shape_.heads; };
  gradient.dquery_rows = rows(gradients_.query);
  gradient.dkey_rows = rows(gradients_.key);
  gradient.dvalue_rows = rows(gradients_.value);
  gradient.dbias = pairs(gradients_.bias);
  gradient.dgate = pairs(gradients_.gate);
}

void PackTerms::clear_gradients() {
  gradients_.query.assign(rows_.query.size(), 0.0f);
  gradients_.key.assign(rows_.key.size(), 0.0f);
  gradients_.value.assign(rows_.value.size(), 0.0f);
  gradients_.bias.assign(rows_.bias.size(), 0.0f);
}

void PackTerms::clear_gate_gradients() { gradients_.gate.assign(rows_.gate.size(), 0.0f); }

void PackTerms::add_gradients(const TableOffsets& tables, const Pack& pack, float* flat, float* dbias) const {
  scatter_rows(pack, gradients_.query, tables.topology_query, tables.edge_query, kNone, flat);
  scatter_rows(pack, gradients_.key, tables.topology_key, tables.edge_key, tables.content_bias, flat);
  scatter_rows(pack, gradients_.value, tables.topology_value, tables.edge_value, kNone, flat);
  const std::size_t heads = shape_.heads;
  const float* slope = gradients_.bias.data();
  if (tables.spatial != kNone)
    for_each_class(pack, [&](std::size_t p, std::size_t t) { add(slope + p * heads, flat + tables.spatial + t * heads, heads); });
  if (dbias != nullptr) add(slope, dbias, gradients_.bias.size());
}

void PackTerms::add_gate_gradients(const TableOffsets& tables, const Pack& pack, float* flat, float* dgate) {
  if (tables.gate == kNone) return;
  const std::size_t heads = shape_.heads;
  if (shape_.options.gate.relu)
    for (std::size_t i = 0; i < rows_.gate.size(); ++i)
      if (rows_.gate[i] <= 0) gradients_.gate[i] = 0;
  const float* slope = gradients_.gate.data();
  for_each_class(pack, [&](std::size_t p, std::size_t t) { add(slope + p * heads, flat + tables.gate + t * heads, heads); });
  if (dgate != nullptr) add(slope, dgate, gradients_.gate.size());
}

}  // namespace molgraph::cpu
