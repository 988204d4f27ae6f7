// Cases for plain_attention.hpp: the attention terms of a model of cases.hpp on a molecule, and the errors of a kernel
// that computes them.
#pragma once

#include <map>
#include <string>

#include "attention/formula/molecule.hpp"
#include "attention/spec/terms.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/plain_attention.hpp"

namespace molgraph::test {

/// The terms of a plan and the relations of a molecule, with normally distributed numbers. `queries` 0 = all tokens are
/// queries.
inline AttentionCase attention_case(const ModelPlan& plan, const formula::Molecule& molecule, std::size_t queries,
                                    bool drop) {
  const EncoderOptions& o = plan.encoder;
  AttentionCase c{.tokens = static_cast<std::size_t>(molecule.tokens()),
                  .heads = static_cast<std::size_t>(o.heads),
                  .head_width = static_cast<std::size_t>(o.width / o.heads)};
  c.queries = queries == 0 ? c.tokens : queries;
  c.scale = 1.0f / std::sqrt(static_cast<float>(c.head_width) * static_cast<float>(o.score_terms));
  c.key_term = o.key_term;
  const std::size_t pairs = c.tokens * c.tokens;
  bool edges = false;
  std::map<TermFills, bool> fills;
  for (const RelationTable& table : relation_tables(o)) {
    if (table.row != RelationTable::Row::walk) fills[table.fills] = true;
    edges |= table.row == RelationTable::Row::edge;
  }
  for (const PairTerm& term : pair_terms(plan)) fills[term.fills] = true;
  const formula::PairClasses classes = formula::pair_classes(molecule, plan.classes);
  std::map<std::pair<int, int>, int> numbers;
  for (std::int64_t i = 0; i < molecule.tokens(); ++i)
    for (std::int64_t j = 0; j < molecule.tokens(); ++j) {
      const std::pair of{classes.topology(i, j), edges ? classes.edge(i, j) : 0};
      c.relation.push_back(numbers.try_emplace(of, static_cast<int>(numbers.size())).first->second);
    }
  c.relations = numbers.size();
  c.masked.assign(classes.masked.values.begin(), classes.masked.values.end());
  Numbers01 random(static_cast<unsigned>(c.tokens + c.queries));
  c.q = random.many(c.tokens * c.width());
  c.k = random.many(c.tokens * c.width());
  c.v = random.many(c.tokens * c.width());
  c.dz = random.many(c.queries * c.width());
  const auto rows = [&](bool on, std::size_t count) { return on ? random.many(count) : std::vector<float>(); };
  c.query_rows = rows(fills[TermFills::query_rows], c.relations * c.width());
  c.key_rows = rows(fills[TermFills::key_rows], c.relations * c.width());
  c.value_rows = rows(fills[TermFills::value_rows], c.relations * c.width());
  if (has_walk_rows(o.terms)) {
    c.steps = static_cast<std::size_t>(o.position_dim);
    c.walks = random.many(pairs * c.steps);
  }
  c.walk_query = rows(o.terms.walk_query, c.steps * c.width());
  c.walk_key = rows(o.terms.walk_key, c.steps * c.width());
  c.walk_value = rows(o.terms.walk_value, c.steps * c.width());
  c.bias = rows(fills[TermFills::bias] || !c.masked.empty(), c.heads * pairs);
  c.gate = rows(o.gate.enabled, c.heads * pairs);
  if (drop) {
    const std::vector<std::uint8_t> bits = random.bits(c.heads * pairs / 8 + 1);
    for (std::size_t p = 0; p < c.heads * pairs; ++p) c.kept.push_back(bit(bits, p));
    c.keep_scale = 1.25f;
  }
  return c;
}

/// The errors of every array, over several molecules.
class AttentionErrors {
 public:
  void add(const AttentionCase& c, const AttentionResult<float>& actual) {
    const AttentionResult<double> expected = plain_attention<double>(c);
    const AttentionResult<float> plain = plain_attention<float>(c);
    const std::size_t outputs = c.queries * c.width();
    add("z", expected.z, actual.z, plain.z, outputs);
    add("dq", expected.dq, actual.dq, plain.dq, outputs);
    add("dk", expected.dk, actual.dk, plain.dk, expected.dk.size());
    add("dv", expected.dv, actual.dv, plain.dv, expected.dv.size());
    add("dquery_rows", expected.dquery_rows, actual.dquery_rows, plain.dquery_rows, c.query_rows.size());
    add("dkey_rows", expected.dkey_rows, actual.dkey_rows, plain.dkey_rows, c.key_rows.size());
    add("dvalue_rows", expected.dvalue_rows, actual.dvalue_rows, plain.dvalue_rows, c.value_rows.size());
    add("dwalk_query", expected.dwalk_query, actual.dwalk_query, plain.dwalk_query, c.walk_query.size());
    add("dwalk_key", expected.dwalk_key, actual.dwalk_key, plain.dwalk_key, c.walk_key.size());
    add("dwalk_value", expected.dwalk_value, actual.dwalk_value, plain.dwalk_value, c.walk_value.size());
    add("dbias", expected.dbias, actual.dbias, plain.dbias, c.bias.size());
    add("dgate", expected.dgate, actual.dgate, plain.dgate, c.gate.size());
  }
  void expect_small(const std::string& where) const {
    for (const auto& [name, errors] : errors_) errors.expect_small(where + ", " + name);
  }

 private:
  void add(const char* name, const std::vector<double>& expected, const std::vector<float>& actual,
           const std::vector<float>& plain, std::size_t count) {
    ASSERT_GE(actual.size(), count) << name;
    for (std::size_t i = 0; i < count; ++i) errors_[name].add(expected[i], actual[i], plain[i]);
  }
  std::map<std::string, Errors> errors_;
};

}  // namespace molgraph::test
