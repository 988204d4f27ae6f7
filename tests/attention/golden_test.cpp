// The operation against values of an independent implementation (tests/golden/make_attention_cases.py, numpy, float64).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "attention/reference/attention.hpp"

namespace molgraph::test {
namespace {

using nlohmann::json;
using torch::Tensor;

constexpr double kExact = 1e-12;   // both sides float64, sums of at most about a hundred terms of order one

void flatten(const json& value, std::vector<double>& numbers) {
  if (value.is_number()) numbers.push_back(value.get<double>());
  else for (const json& part : value) flatten(part, numbers);
}

// A nested list with the given shape; undefined for null.
Tensor tensor_of(const json& value, at::IntArrayRef shape) {
  if (value.is_null()) return {};
  std::vector<double> numbers;
  flatten(value, numbers);
  return torch::tensor(numbers, torch::kFloat64).view(shape);
}

double largest_difference(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

void check(const json& c) {
  const std::int64_t n = c["n"], heads = c["heads"], width = c["head_width"];
  const std::int64_t T = c["topology_classes"], E = c["edge_classes"];
  GraphBatch batch;
  batch.token_offset = {0, n};
  batch.pair_offset = {0, n * n};
  batch.row = {0};
  const RelationClasses classes{tensor_of(c["topology"], {-1}).to(torch::kInt64),
                                tensor_of(c["edge"], {-1}).to(torch::kInt64), {}};
  const auto table = [&](const char* name, std::int64_t rows) { return tensor_of(c[name], {rows, heads * width}); };
  const CaseTables tables{.spatial = {},
                              .topology_query = table("PQ", T),
                              .topology_key = table("PK", T),
                              .topology_value = table("PV", T),
                              .edge_query = table("EQ", E),
                              .edge_key = table("EK", E),
                              .edge_value = table("EV", E)};
  const Tensor b = tensor_of(c["b"], {heads, n * n}), gate = tensor_of(c["C"], {heads, T});
  const AttentionLayout layout = make_layout(batch, classes);
  const TermOptions options{static_cast<int>(heads), false, c["key_term"] == "row" ? KeyTerm::row : KeyTerm::column};
  const BatchTerms terms = make_terms(tables.filled(), {{.dense = b.defined() ? b.t() : b}}, layout, options, torch::kFloat64);
  const std::vector<Tensor> gates = gate.defined() ? make_gates(filled_gate(gate.t()), {}, false, layout) : std::vector<Tensor>();
  const Tensor qkv = torch::cat({table("q", n), table("k", n), table("v", n)}, 1);
  AttentionWeights seen;
  const Tensor z = attention(qkv, layout, terms, gates, {}, &seen);
  EXPECT_LT(largest_difference(seen.softmax[0], tensor_of(c["softmax"], {heads, 1, n, n})), kExact);
  EXPECT_LT(largest_difference(seen.weights[0], tensor_of(c["weights"], {heads, 1, n, n})), kExact);
  EXPECT_LT(largest_difference(z, tensor_of(c["output"], {n, heads * width})), kExact);
}

TEST(AttentionGolden, AllCases) {
  std::ifstream file(MOLGRAPH_GOLDEN_DIR "/attention_cases.json");
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
