// Attention on packed tokens, computed by the reference and by the formula.
#pragma once

#include <algorithm>

#include "attention/formula/attention.hpp"
#include "attention/formula/dropout.hpp"
#include "attention/reference/dropout.hpp"
#include "tests/attention/cases.hpp"

namespace molgraph::test {

inline constexpr double kCaseDropout = 0.3;
inline constexpr std::uint64_t kCaseSeed = 0x0123456789abcdefULL;

/// z [packed tokens, C] by the reference.
inline torch::Tensor run_reference(const AttentionCase& c, const AttentionInputs& in) {
  const AttentionLayout layout = make_layout(in.batch, in.classes);
  const auto by_head = [](const torch::Tensor& rows) {
    return rows.defined() ? rows.view({rows.size(0), kHeads, -1}) : rows;
  };
  const PairValues bias{in.pair_bias, by_head(in.place_query), by_head(in.place_key)};
  const BatchTerms terms = make_terms(in.tables.filled(), {bias}, layout,
                                      {kHeads, c.tied_virtual, c.key_term, c.score_terms}, in.qkv.options());
  std::vector<torch::Tensor> gates;
  if (c.gate.enabled) gates = make_gates(filled_gate(in.gate), {{.dense = in.gate_path}}, c.gate.relu, layout);
  const ForwardMode mode{.training = true, .seed = kCaseSeed, .step = 5, .keep_layers = {}};
  const DropoutMasks masks(in.batch, layout, mode, in.qkv.options());
  const torch::Tensor z = attention(in.qkv.index_select(0, layout.to_grouped), layout, terms, gates,
                                    masks.attention(0, kHeads, c.dropout ? kCaseDropout : 0.0));
  return z.index_select(0, layout.to_packed);
}

/// Rows [first, first + count) and columns [column, column + columns) of a two-dimensional tensor. A vector counts as
/// one row; an undefined tensor gives an empty matrix.
inline formula::Matrix matrix_of(const torch::Tensor& x, std::int64_t first = 0, std::int64_t count = -1,
                                 std::int64_t column = 0, std::int64_t columns = -1) {
  if (!x.defined()) return {};
  const torch::Tensor part = (x.dim() == 1 ? x.detach().unsqueeze(0) : x.detach())
                                 .narrow(0, first, count < 0 ? x.numel() / x.size(-1) : count);
  const torch::Tensor block = part.narrow(1, column, columns < 0 ? part.size(1) : columns).contiguous();
  formula::Matrix matrix(block.size(0), block.size(1));
  std::copy_n(block.const_data_ptr<double>(), block.numel(), matrix.values.data());
  return matrix;
}

/// Adds column h of packed pairs [P, H] to the [N, N] matrix of head h, for all heads.
inline void add_pairs(const torch::Tensor& pairs, std::int64_t first, std::int64_t n,
                      std::vector<formula::Matrix>& by_head) {
  if (!pairs.defined()) return;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    formula::Matrix own = matrix_of(pairs, first, n * n, h, 1);
    own.rows = own.columns = n;
    auto& to = by_head[static_cast<std::size_t>(h)];
    to = formula::sum(to, own);
  }
}

/// z [packed tokens, C] by the formula.
inline torch::Tensor run_formula(const AttentionCase& c, const AttentionInputs& in) {
  const torch::Tensor z = torch::zeros({in.batch.num_tokens(), kWidth}, torch::kFloat64);
  const std::int64_t* topology = in.classes.topology.const_data_ptr<std::int64_t>();
  const std::int64_t* edge = in.classes.edge.const_data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < in.batch.size(); ++b) {
    const std::int64_t first = in.batch.token_offset[b], n = in.batch.token_offset[b + 1] - first,
                       pairs = in.batch.pair_offset[b];
    formula::PairClasses classes{formula::Grid<int>(n, n), formula::Grid<int>(n, n), formula::Grid<char>(n, n)};
    for (std::int64_t p = 0; p < n * n; ++p) {
      classes.topology.values[p] = static_cast<int>(topology[pairs + p]);
      classes.edge.values[p] = static_cast<int>(edge[pairs + p]);
      classes.masked.values[p] =
          in.classes.forbidden.defined() && in.classes.forbidden.const_data_ptr<bool>()[pairs + p];
    }
    const std::vector<formula::Matrix> zeros(kHeads, formula::Matrix(n, n));
    formula::AttentionTerms terms{.heads = kHeads, .key_term = c.key_term, .score_terms = c.score_terms, .bias = zeros};
    const CaseTables& t = in.tables;
    terms.tables = {matrix_of(t.spatial),        matrix_of(t.topology_query), matrix_of(t.topology_key),
                    matrix_of(t.topology_value), matrix_of(t.edge_query),     matrix_of(t.edge_key),
                    matrix_of(t.edge_value),     matrix_of(t.content_bias),   matrix_of(t.position_bias)};
    add_pairs(in.pair_bias, pairs, n, terms.bias);
    for (std::int64_t h = 0; in.place_query.defined() && h < kHeads; ++h) {
      const auto place = [&](const torch::Tensor& all) { return matrix_of(all, first, n, h * kPlaceRank, kPlaceRank); };
      auto& to = terms.bias[static_cast<std::size_t>(h)];
      to = formula::sum(to, formula::linear(place(in.place_query), place(in.place_key), {}));
    }
    if (c.gate.enabled) {
      terms.gate = zeros;
      const formula::Matrix gate = matrix_of(in.gate);
      for (std::int64_t h = 0; h < kHeads; ++h)
        for (std::int64_t p = 0; p < n * n; ++p) terms.gate[h].values[p] = gate(classes.topology.values[p], h);
      add_pairs(in.gate_path, pairs, n, terms.gate);
      for (formula::Matrix& of_head : terms.gate)
        for (double& value : of_head.values) value = c.gate.relu ? std::max(value, 0.0) : value;
    }
    const formula::Draws draws({.training = c.dropout, .seed = kCaseSeed, .step = 5}, in.batch.row[b]);
    terms.dropout = draws.attention(0, kHeads, n, kCaseDropout);
    const auto part = [&](int which) { return matrix_of(in.qkv, first, n, which * kWidth, kWidth); };
    const formula::Matrix own = formula::attention(part(0), part(1), part(2), classes, terms);
    std::copy(own.values.begin(), own.values.end(), z.mutable_data_ptr<double>() + first * kWidth);
  }
  return z;
}

}  // namespace molgraph::test
