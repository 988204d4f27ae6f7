#include "attention/formula/pair_states.hpp"

#include "attention/formula/pair_vectors.hpp"
#include "attention/spec/pair_states.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::formula {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// to += factor * values, element by element.
void add(const Matrix& values, double factor, Matrix& to) {
  for (std::size_t p = 0; p < to.values.size(); ++p) to.values[p] += factor * values.values[p];
}

}  // namespace

std::vector<Matrix> first_pair_states(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                                      const Parameters& parameters) {
  const EncoderOptions& o = plan.encoder;
  if (o.pair_state == 0) return {};
  const Matrix &topology = parameters.at("encoder.pair_states.topology"),
               &edge = parameters.at("encoder.pair_states.edge"), &weight = parameters["encoder.pair_states.vector"];
  const std::int64_t n = molecule.tokens();
  std::vector<Matrix> states(at(o.pair_state), Matrix(n, n));
  for (std::int64_t d = 0; d < o.pair_state; ++d)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        states[at(d)](i, j) = topology(classes.topology(i, j), d) + edge(classes.edge(i, j), d);
  if (!weights_pair_vectors(o)) return states;
  const std::vector<Matrix> vectors = pair_vectors(molecule, o.pair_vector());
  for (std::int64_t d = 0; d < o.pair_state; ++d)
    for (std::int64_t t = 0; t < weight.rows; ++t) add(vectors[at(t)], weight(t, d), states[at(d)]);
  return states;
}

void add_pair_states(const std::vector<Matrix>& states, const Parameters& parameters, const std::string& owner,
                     AttentionTerms& terms) {
  if (states.empty()) return;
  const Matrix& weight = parameters.at(owner + "pair_states.bias");
  terms.pair_states = states;
  terms.pair_value = parameters.at(owner + "pair_states.value");
  if (terms.bias.empty()) terms.bias.assign(at(weight.rows), Matrix(states[0].rows, states[0].columns));
  for (std::int64_t h = 0; h < weight.rows; ++h)
    for (std::int64_t d = 0; d < weight.columns; ++d) add(states[at(d)], weight(h, d), terms.bias[at(h)]);
}

std::vector<Matrix> next_pair_states(const Matrix& q, const Matrix& k, const PairClasses& classes,
                                     const AttentionTerms& terms, const Parameters& parameters,
                                     const std::string& owner) {
  std::vector<Matrix> states = terms.pair_states;
  const Matrix &weight = parameters[owner + "pair_states.update"],
               &bias = parameters[owner + "pair_states.update_bias"];
  if (weight.empty()) return states;  // the last layer
  for (int head = 0; head < terms.heads; ++head) {
    const Matrix scores = attention_scores(q, k, classes, terms, head), a = softmax(scores);
    Matrix score_part = scores;
    for (std::size_t p = 0; p < scores.values.size(); ++p) {
      const bool masked = !classes.masked.empty() && classes.masked.values[p] != 0;  // its state is never read
      score_part.values[p] = masked ? 0.0 : bounded(scores.values[p]);
    }
    for (std::int64_t d = 0; d < weight.columns; ++d) {
      add(score_part, weight(head, d), states[at(d)]);
      add(a, kPairWeight * weight(terms.heads + head, d), states[at(d)]);
    }
  }
  for (std::int64_t d = 0; d < weight.columns; ++d)
    for (double& value : states[at(d)].values) value += bias(0, d);
  return states;
}

}  // namespace molgraph::formula
