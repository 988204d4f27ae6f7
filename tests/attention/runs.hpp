// The operation on packed tokens, by the reference and by loops written straight from the formula.
#pragma once

#include <cmath>
#include <limits>

#include "attention/reference/dropout.hpp"
#include "tests/attention/cases.hpp"

namespace molgraph::test {

inline constexpr double kCaseDropout = 0.3;
inline constexpr std::uint64_t kCaseSeed = 0x0123456789abcdefULL;

/// z [packed tokens, C] by the reference.
inline torch::Tensor run_reference(const AttentionCase& c, const AttentionInputs& in,
                                   AttentionWeights* seen = nullptr) {
  const AttentionLayout layout = make_layout(in.batch, in.classes);
  const auto by_head = [](const torch::Tensor& rows) {
    return rows.defined() ? rows.view({rows.size(0), kHeads, -1}) : rows;
  };
  const PairValues bias{in.pair_bias, by_head(in.place_query), by_head(in.place_key)};
  const BatchTerms terms = make_terms(in.tables.filled(), {bias}, layout, {kHeads, c.tied_virtual, c.key_term, c.score_terms},
                                      in.qkv.options());
  std::vector<torch::Tensor> gates;
  if (c.gate.enabled) gates = make_gates(filled_gate(in.gate), {{.dense = in.gate_path}}, c.gate.relu, layout);
  const ForwardMode mode{.training = true, .seed = kCaseSeed, .step = 5, .keep_layers = {}};
  const DropoutMasks masks(in.batch, layout, mode, in.qkv.options());
  const torch::Tensor z = attention(in.qkv.index_select(0, layout.to_grouped), layout, terms, gates,
                                    masks.attention(0, kHeads, c.dropout ? kCaseDropout : 0.0), seen);
  return z.index_select(0, layout.to_packed);
}

/// z by scalar loops in float64. Written from docs/formula.md section 2; of the attention room it uses the draws only.
inline torch::Tensor run_loops(const AttentionCase& c, const AttentionInputs& in) {
  const auto number = [](const torch::Tensor& table, std::int64_t row, std::int64_t column) {
    return table.defined() ? table.const_data_ptr<double>()[row * table.size(1) + column] : 0.0;
  };
  const torch::Tensor z = torch::zeros({in.batch.num_tokens(), kWidth}, torch::kFloat64);
  const std::int64_t* topology = in.classes.topology.const_data_ptr<std::int64_t>();
  const std::int64_t* edge = in.classes.edge.const_data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < in.batch.size(); ++b) {
    const std::int64_t first = in.batch.token_offset[b], n = in.batch.token_offset[b + 1] - first;
    std::vector<std::uint16_t> draws(static_cast<std::size_t>(kHeads * n * n));
    random_draws({kCaseSeed, 5, static_cast<std::uint32_t>(in.batch.row[b]), 0, RandomSite::attention_weights},
                 kHeads * n * n, draws.data());
    for (int h = 0; h < kHeads; ++h)
      for (std::int64_t i = 0; i < n; ++i) {
        std::vector<double> score(n), weight(n);
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t pair = in.batch.pair_offset[b] + i * n + j, t = topology[pair], e = edge[pair];
          const std::int64_t x = c.key_term == KeyTerm::row ? i : j;
          const std::int64_t reversed = in.batch.pair_offset[b] + j * n + i;
          const std::int64_t key_pair = c.key_term == KeyTerm::reverse ? reversed : pair;
          for (int k = h * kHeadWidth; k < (h + 1) * kHeadWidth; ++k) {
            const double q = number(in.qkv, first + i, k), key_x = number(in.qkv, first + x, kWidth + k);
            score[j] += q * (number(in.qkv, first + j, kWidth + k) + number(in.tables.topology_query, t, k) +
                             number(in.tables.edge_query, e, k)) +
                        key_x * (number(in.tables.topology_key, topology[key_pair], k) +
                                 number(in.tables.edge_key, edge[key_pair], k)) +
                        number(in.content_bias, 0, k) * number(in.qkv, first + j, kWidth + k) +
                        number(in.position_bias, 0, k) * number(in.tables.topology_query, t, k);
          }
          const std::int64_t row = c.tied_virtual ? std::min<std::int64_t>(t, kTopology.atom_to_virtual()) : t;
          score[j] = score[j] / std::sqrt(double(c.score_terms * kHeadWidth)) + number(in.tables.spatial, row, h) +
              number(in.pair_bias, pair, h);
          for (int k = h * kPlaceRank; k < (h + 1) * kPlaceRank; ++k)
            score[j] += number(in.place_query, first + i, k) * number(in.place_key, first + j, k);
          if (in.classes.forbidden.defined() && in.classes.forbidden.const_data_ptr<bool>()[pair])
            score[j] = -std::numeric_limits<double>::infinity();
          largest = std::max(largest, score[j]);
        }
        if (std::isinf(largest)) continue;
        for (std::int64_t j = 0; j < n; ++j) sum += weight[j] = std::exp(score[j] - largest);
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t pair = in.batch.pair_offset[b] + i * n + j, t = topology[pair], e = edge[pair];
          double w = weight[j] / sum;
          const double gate = number(in.gate, t, h) + number(in.gate_path, pair, h);
          if (c.gate.enabled) w *= c.gate.relu ? std::max(0.0, gate) : gate;
          const double threshold = std::round(65536 * kCaseDropout);
          if (c.dropout) w *= draws[(h * n + i) * n + j] < threshold ? 0.0 : 1 / (1 - threshold / 65536);
          for (int k = h * kHeadWidth; k < (h + 1) * kHeadWidth; ++k)
            z.mutable_data_ptr<double>()[(first + i) * kWidth + k] +=
                w * (number(in.qkv, first + j, 2 * kWidth + k) + number(in.tables.topology_value, t, k) +
                     number(in.tables.edge_value, e, k));
        }
      }
  }
  return z;
}

}  // namespace molgraph::test
