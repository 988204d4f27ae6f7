#include "attention/formula/rollout.hpp"

#include "attention/formula/encoder.hpp"
#include "attention/formula/node_input.hpp"

namespace molgraph::formula {
namespace {

/// Mean of the softmax [N, N] over the heads of a layer whose input is `state`.
Matrix mean_softmax(const Matrix& state, const AttentionTerms& terms, const PairClasses& classes,
                    const EncoderOptions& options, const Parameters& parameters, int layer) {
  const auto [q, k] = queries_and_keys(state, options, parameters, layer);
  Matrix mean(q.rows, q.rows);
  for (int head = 0; head < terms.heads; ++head) {
    const Matrix a = softmax(attention_scores(q, k, classes, terms, head));
    for (std::size_t i = 0; i < a.values.size(); ++i) mean.values[i] += a.values[i] / terms.heads;
  }
  return mean;
}

}  // namespace

std::vector<double> attention_rollout(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule_number,
                                      const Parameters& parameters) {
  const Molecule molecule(batch, molecule_number);
  const Draws draws({}, molecule.row());
  const Matrix x = node_input(molecule, plan, parameters, draws);
  std::vector<std::vector<Matrix>> pair_states;
  const std::vector<Matrix> states = encoder(x, molecule, plan, parameters, draws, &pair_states);
  const PairClasses classes = pair_classes(molecule, plan.classes);
  const std::int64_t n = molecule.tokens();
  std::vector<double> row(static_cast<std::size_t>(n));
  if (plan.encoder.readout == Readout::virtual_node) row[0] = 1;
  else std::fill(row.begin() + 1, row.end(), 1.0 / static_cast<double>(n - 1));
  for (int layer = plan.encoder.layers - 1; layer >= 0; --layer) {
    const auto at = static_cast<std::size_t>(layer);
    const AttentionTerms terms = attention_terms(molecule, classes, plan, parameters, draws, pair_states[at], layer);
    const Matrix a = mean_softmax(states[at], terms, classes, plan.encoder, parameters, layer);
    std::vector<double> next(row.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        next[static_cast<std::size_t>(j)] += row[static_cast<std::size_t>(i)] * ((i == j ? 1.0 : 0.0) + a(i, j)) / 2;
    row = next;
  }
  return row;
}

}  // namespace molgraph::formula
