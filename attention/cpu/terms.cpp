#include "attention/cpu/terms.hpp"

#include <algorithm>
#include <array>

namespace molgraph::cpu {
namespace {

/// The classes that select a table's rows, [M] of the molecule's relations; null = one row for all relations.
const std::uint16_t* classes_of(const MoleculeRelations& molecule, RelationTable::Row row) {
  switch (row) {
    case RelationTable::Row::topology: return molecule.topology.data();
    case RelationTable::Row::edge: return molecule.edge.data();
    default: return nullptr;
  }
}

/// True if the table has this `fills` and its rows are selected by class (or it has one row).
bool fills_by_class(const PlacedTable& table, TermFills fills) {
  return table.fills == fills && table.row != RelationTable::Row::walk;
}

bool fills_any(const TableSet& set, TermFills fills) {
  return std::any_of(set.tables.begin(), set.tables.end(),
                     [&](const PlacedTable& table) { return fills_by_class(table, fills); });
}

using Row = RelationTable::Row;

/// The `fills` of tables of walk rows.
constexpr std::array kWalkTables{TermFills::query_rows, TermFills::key_rows, TermFills::value_rows};

void add(const float* from, float* to, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) to[c] += from[c];
}

}  // namespace

// Computes row m: the sum of all tables' rows for relation m, in the tables' order.
void PackTerms::load_rows(const EncoderWeights& weights, const TableSet& set, TermFills fills, const Pack& pack,
                          AlignedVector<float>& rows) const {
  if (!fills_any(set, fills)) return rows.clear();
  const std::size_t width = shape_.inner;
  rows.assign(first_relation_.back() * width, 0.0f);
  float* first = rows.data();
  for (const MoleculeRelations& molecule : pack.molecules) {
    for (const PlacedTable& table : set.tables) {
      if (!fills_by_class(table, fills)) continue;
      const float* from = weights.at(table.offset);
      const std::uint16_t* classes = classes_of(molecule, table.row);
      for (std::size_t m = 0; m < molecule.count(); ++m)
        add(from + (classes != nullptr ? classes[m] * width : 0), first + m * width, width);
    }
    first += molecule.count() * width;
  }
}

void PackTerms::scatter_rows(const TableSet& set, TermFills fills, const Pack& pack, const AlignedVector<float>& rows,
                             float* flat) const {
  if (rows.empty()) return;
  const std::size_t width = shape_.inner;
  const float* first = rows.data();
  for (const MoleculeRelations& molecule : pack.molecules) {
    for (const PlacedTable& table : set.tables) {
      if (!fills_by_class(table, fills)) continue;
      const std::uint16_t* classes = classes_of(molecule, table.row);
      for (std::size_t m = 0; m < molecule.count(); ++m)
        add(first + m * width, flat + table.offset + (classes != nullptr ? classes[m] * width : 0), width);
    }
    first += molecule.count() * width;
  }
}

// Adds the tables' rows to all pairs.
void PackTerms::add_pairs(const EncoderWeights& weights, const TableSet& set, TermFills fills, const Pack& pack,
                          AlignedVector<float>& pairs) const {
  const std::size_t heads = shape_.heads;
  for (const PlacedTable& table : set.tables) {
    if (!fills_by_class(table, fills)) continue;
    const float* from = weights.at(table.offset);
    for (const MoleculeRelations& molecule : pack.molecules) {
      const std::uint16_t* classes = classes_of(molecule, table.row);
      const std::size_t end = molecule.first_pair + molecule.tokens * molecule.tokens;
      for (std::size_t p = molecule.first_pair; p < end; ++p)
        add(from + (classes != nullptr ? classes[pack.relation[p]] * heads : 0), pairs.data() + p * heads, heads);
    }
  }
}

void PackTerms::scatter_pairs(const TableSet& set, TermFills fills, const Pack& pack, const AlignedVector<float>& pairs,
                              float* flat) const {
  const std::size_t heads = shape_.heads;
  for (const PlacedTable& table : set.tables) {
    if (!fills_by_class(table, fills)) continue;
    float* to = flat + table.offset;
    for (const MoleculeRelations& molecule : pack.molecules) {
      const std::uint16_t* classes = classes_of(molecule, table.row);
      const std::size_t end = molecule.first_pair + molecule.tokens * molecule.tokens;
      for (std::size_t p = molecule.first_pair; p < end; ++p)
        add(pairs.data() + p * heads, to + (classes != nullptr ? classes[pack.relation[p]] * heads : 0), heads);
    }
  }
}

void PackTerms::load(const EncoderWeights& weights, const TableSet& set, const Pack& pack, const float* pair_bias) {
  first_relation_.assign(1, 0);
  for (const MoleculeRelations& molecule : pack.molecules)
    first_relation_.push_back(first_relation_.back() + molecule.count());
  load_rows(weights, set, TermFills::query_rows, pack, rows_.query);
  load_rows(weights, set, TermFills::key_rows, pack, rows_.key);
  load_rows(weights, set, TermFills::value_rows, pack, rows_.value);
  for (std::size_t k = 0; k < kWalkTables.size(); ++k) walk_rows_[k] = weights.at(set.find(kWalkTables[k], Row::walk));

  const std::size_t heads = shape_.heads, floats = pack.pairs * heads;
  if (!fills_any(set, TermFills::bias) && pair_bias == nullptr && pack.forbidden.empty()) return rows_.bias.clear();
  if (pair_bias != nullptr) rows_.bias.assign(pair_bias, pair_bias + floats);
  else rows_.bias.assign(floats, 0.0f);
  add_pairs(weights, set, TermFills::bias, pack, rows_.bias);
  for (std::size_t p = 0; p < pack.forbidden.size(); ++p)
    if (pack.forbidden[p] != 0) std::fill_n(rows_.bias.data() + p * heads, heads, kForbidden);
}

void PackTerms::load_gate(const EncoderWeights& weights, const TableSet& set, const Pack& pack,
                          const float* pair_gate) {
  if (!fills_any(set, TermFills::gate)) return;
  const std::size_t floats = pack.pairs * shape_.heads;
  if (pair_gate != nullptr) rows_.gate.assign(pair_gate, pair_gate + floats);
  else rows_.gate.assign(floats, 0.0f);
  add_pairs(weights, set, TermFills::gate, pack, rows_.gate);
  if (shape_.options.gate.relu)
    for (float& value : rows_.gate) value = std::max(value, 0.0f);
}

void PackTerms::fill(const Pack& pack, std::size_t molecule, Attention& attention) const {
  const MoleculeRelations& of = pack.molecules[molecule];
  const auto rows = [&](const AlignedVector<float>& x) {
    return x.empty() ? nullptr : x.data() + first_relation_[molecule] * shape_.inner;
  };
  const auto pairs = [&](const AlignedVector<float>& x) {
    return x.empty() ? nullptr : x.data() + of.first_pair * shape_.heads;
  };
  attention.relations = of.count();
  attention.relation = pack.relation.data() + of.first_pair;
  attention.key_relation = pack.reversed.empty() ? attention.relation : pack.reversed.data() + of.first_pair;
  attention.key_by_row = shape_.options.key_term == KeyTerm::row;
  attention.query_rows = rows(rows_.query);
  attention.key_rows = rows(rows_.key);
  attention.value_rows = rows(rows_.value);
  attention.bias = pairs(rows_.bias);
  attention.gate = pairs(rows_.gate);
  attention.walk_query = walk_rows_[0];
  attention.walk_key = walk_rows_[1];
  attention.walk_value = walk_rows_[2];
}

void PackTerms::fill(const TableSet& set, const Pack& pack, std::size_t molecule, float* flat,
                     AttentionGradient& gradient) {
  const MoleculeRelations& of = pack.molecules[molecule];
  const auto rows = [&](AlignedVector<float>& x) {
    return x.empty() ? nullptr : x.data() + first_relation_[molecule] * shape_.inner;
  };
  const auto pairs = [&](AlignedVector<float>& x) {
    return x.empty() ? nullptr : x.data() + of.first_pair * shape_.heads;
  };
  gradient.dquery_rows = rows(gradients_.query);
  gradient.dkey_rows = rows(gradients_.key);
  gradient.dvalue_rows = rows(gradients_.value);
  gradient.dbias = pairs(gradients_.bias);
  gradient.dgate = pairs(gradients_.gate);
  const auto walk_rows = [&](std::size_t k) {
    const std::size_t offset = set.find(kWalkTables[k], Row::walk);
    return offset == kNone ? nullptr : flat + offset;
  };
  gradient.dwalk_query = walk_rows(0);
  gradient.dwalk_key = walk_rows(1);
  gradient.dwalk_value = walk_rows(2);
}

void PackTerms::clear_gradients() {
  gradients_.query.assign(rows_.query.size(), 0.0f);
  gradients_.key.assign(rows_.key.size(), 0.0f);
  gradients_.value.assign(rows_.value.size(), 0.0f);
  gradients_.bias.assign(rows_.bias.size(), 0.0f);
}

void PackTerms::clear_gate_gradients() { gradients_.gate.assign(rows_.gate.size(), 0.0f); }

void PackTerms::add_gradients(const TableSet& set, const Pack& pack, float* flat, float* dbias) const {
  scatter_rows(set, TermFills::query_rows, pack, gradients_.query, flat);
  scatter_rows(set, TermFills::key_rows, pack, gradients_.key, flat);
  scatter_rows(set, TermFills::value_rows, pack, gradients_.value, flat);
  scatter_pairs(set, TermFills::bias, pack, gradients_.bias, flat);
  if (dbias != nullptr) add(gradients_.bias.data(), dbias, gradients_.bias.size());
}

void PackTerms::add_gate_gradients(const TableSet& set, const Pack& pack, float* flat, float* dgate) {
  if (!fills_any(set, TermFills::gate)) return;
  if (shape_.options.gate.relu)
    for (std::size_t i = 0; i < rows_.gate.size(); ++i)
      if (rows_.gate[i] <= 0) gradients_.gate[i] = 0;
  scatter_pairs(set, TermFills::gate, pack, gradients_.gate, flat);
  if (dgate != nullptr) add(gradients_.gate.data(), dgate, gradients_.gate.size());
}

}  // namespace molgraph::cpu
