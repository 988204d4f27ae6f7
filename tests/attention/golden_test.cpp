// The formula compared with values of an independent implementation (tests/golden/make_attention_cases.py, numpy,
// float64).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "attention/formula/attention.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using formula::Grid;
using formula::Matrix;
using nlohmann::json;

constexpr double kExact = 1e-12;  // both sides float64, sums of at most about a hundred terms of order one

template <class Number>
void flatten(const json& value, std::vector<Number>& numbers) {
  if (value.is_number()) numbers.push_back(value.get<Number>());
  else
    for (const json& part : value) flatten(part, numbers);
}

/// A nested list as a table with `rows` rows; empty for null.
template <class Number = double>
Grid<Number> table(const json& value, std::int64_t rows) {
  Grid<Number> grid;
  if (value.is_null()) return grid;
  flatten(value, grid.values);
  grid.rows = rows;
  grid.columns = static_cast<std::int64_t>(grid.values.size()) / rows;
  return grid;
}

/// [heads][n][n] as one matrix per head.
std::vector<Matrix> by_head(const json& value, std::int64_t n) {
  std::vector<Matrix> heads;
  if (value.is_null()) return heads;
  for (const json& head : value) heads.push_back(table(head, n));
  return heads;
}

void expect_near(const Matrix& got, const Matrix& expected, const char* what) {
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (std::size_t k = 0; k < expected.values.size(); ++k)
    EXPECT_NEAR(got.values[k], expected.values[k], kExact) << what << ", number " << k;
}

void check(const json& c) {
  const std::int64_t n = c["n"], heads = c["heads"], T = c["topology_classes"], E = c["edge_classes"];
  const formula::PairClasses classes{table<int>(c["topology"], n), table<int>(c["edge"], n), {}};
  formula::AttentionTerms terms{.heads = static_cast<int>(heads),
                                .key_term = c["key_term"] == "row" ? KeyTerm::row : KeyTerm::column};
  terms.tables.topology_query = table(c["PQ"], T);
  terms.tables.topology_key = table(c["PK"], T);
  terms.tables.topology_value = table(c["PV"], T);
  terms.tables.edge_query = table(c["EQ"], E);
  terms.tables.edge_key = table(c["EK"], E);
  terms.tables.edge_value = table(c["EV"], E);
  terms.bias = by_head(c["b"], n);
  if (!c["C"].is_null()) {
    const Matrix gate = table(c["C"], heads);  // [heads, T]
    terms.gate.assign(static_cast<std::size_t>(heads), Matrix(n, n));
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          terms.gate[static_cast<std::size_t>(h)](i, j) = gate(h, classes.topology(i, j));
  }
  const Matrix q = table(c["q"], n), k = table(c["k"], n), v = table(c["v"], n);
  const std::vector<Matrix> softmax = by_head(c["softmax"], n), weights = by_head(c["weights"], n);
  for (int h = 0; h < heads; ++h) {
    const Matrix a = formula::softmax(formula::attention_scores(q, k, classes, terms, h));
    expect_near(a, softmax[static_cast<std::size_t>(h)], "softmax");
    expect_near(formula::attention_weights(a, terms, h), weights[static_cast<std::size_t>(h)], "weights");
  }
  expect_near(formula::attention(q, k, v, classes, terms), table(c["output"], n), "output");
}

TEST(AttentionGolden, MatchesIndependentImplementation) {
  std::ifstream file(tests_dir("golden") + "/attention_cases.json");
  ASSERT_TRUE(file) << "tests/golden/attention_cases.json is part of the sources";
  const json cases = json::parse(file);
  ASSERT_EQ(cases.size(), 8u);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE("case " + std::to_string(k));
    check(cases[k]);
  }
}

}  // namespace
}  // namespace molgraph::test
