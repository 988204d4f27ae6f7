#include "attention/formula/encoder.hpp"

#include <cmath>

#include "attention/formula/layers.hpp"
#include "attention/formula/pair_states.hpp"
#include "attention/formula/pair_terms.hpp"
#include "attention/formula/pair_vectors.hpp"

namespace molgraph::formula {
namespace {

std::string layer_prefix(int layer) { return "encoder.layers." + std::to_string(layer) + "."; }

RelationTables relation_tables(const Parameters& parameters, const std::string& owner) {
  return {.spatial = parameters[owner + "spatial"],
          .topology_query = parameters[owner + "topology_query"],
          .topology_key = parameters[owner + "topology_key"],
          .topology_value = parameters[owner + "topology_value"],
          .edge_query = parameters[owner + "edge_query"],
          .edge_key = parameters[owner + "edge_key"],
          .edge_value = parameters[owner + "edge_value"],
          .content_bias = parameters[owner + "content_bias"],
          .position_bias = parameters[owner + "position_bias"],
          .walk_query = parameters[owner + "walk_query"],
          .walk_key = parameters[owner + "walk_key"],
          .walk_value = parameters[owner + "walk_value"]};
}

/// z_i (a + b log(1 + degree)) (EncoderOptions::degree_scaler); z if the model has no such parameters.
Matrix scaled_by_degree(const Matrix& z, const Molecule& molecule, const Parameters& parameters,
                        const std::string& layer) {
  const Matrix &a = parameters[layer + "attention.scale"], &b = parameters[layer + "attention.degree_scale"];
  if (a.empty()) return z;
  Matrix scaled = z;
  for (std::int64_t i = 0; i < z.rows; ++i)
    for (std::int64_t c = 0; c < z.columns; ++c)
      scaled(i, c) *= a(0, c) + b(0, c) * (i == 0 ? 0.0 : std::log(1.0 + molecule.degree(i)));
  return scaled;
}

}  // namespace

AttentionTerms attention_terms(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                               const Parameters& parameters, const Draws& draws, const std::vector<Matrix>& pair_states,
                               int layer) {
  const EncoderOptions& o = plan.encoder;
  const std::string tables_of = o.share_encodings ? "encoder." : layer_prefix(layer);
  AttentionTerms terms{.heads = o.heads, .key_term = o.key_term, .score_terms = o.score_terms};
  terms.tables = relation_tables(parameters, tables_of);
  if (has_walk_rows(o.terms)) terms.walks = pair_vectors(molecule, o.pair_vector());
  terms.bias = pair_terms_of(TermFills::bias, layer, molecule, plan, parameters);
  add_pair_states(pair_states, parameters, layer_prefix(layer), terms);
  terms.gate = gate(molecule, classes, plan, parameters, layer);
  terms.dropout = draws.attention(layer, o.heads, molecule.tokens(), o.attention_dropout);
  return terms;
}

QueriesAndKeys queries_and_keys(const Matrix& state, const EncoderOptions& options, const Parameters& parameters,
                                int layer) {
  const std::string own = layer_prefix(layer);
  const Matrix x = options.post_ln ? state : layer_norm(state, parameters, own + "attention_norm");
  return {linear(x, parameters, own + "attention.query"), linear(x, parameters, own + "attention.key")};
}

Matrix encoder_block(const Matrix& input, const Molecule& molecule, const PairClasses& classes,
                     const AttentionTerms& terms, const EncoderOptions& options, const Parameters& parameters,
                     const Draws& draws, int layer) {
  const std::string own = layer_prefix(layer);
  const auto drop = [&](const Matrix& x, RandomSite site, double p) {
    return product_by_element(x, draws.dropout(site, layer, x.rows, x.columns, p));
  };
  const auto attend = [&](const Matrix& x) {
    const Matrix q = linear(x, parameters, own + "attention.query");
    const Matrix k = linear(x, parameters, own + "attention.key");
    const Matrix v = linear(x, parameters, own + "attention.value");
    const Matrix z = scaled_by_degree(attention(q, k, v, classes, terms), molecule, parameters, own);
    return drop(linear(z, parameters, own + "attention.output"), RandomSite::attention_residual, options.dropout);
  };
  const auto feed_forward = [&](const Matrix& x) {
    const Matrix inner = gelu(linear(x, parameters, own + "ffn.linear1"));
    const Matrix kept = drop(inner, RandomSite::ffn_activation, options.activation_dropout);
    return drop(linear(kept, parameters, own + "ffn.linear2"), RandomSite::ffn_residual, options.dropout);
  };
  const auto norm = [&](const Matrix& x, const char* name) { return layer_norm(x, parameters, own + name); };

  if (options.post_ln) {
    const Matrix x = norm(sum(input, attend(input)), "attention_norm");
    return norm(sum(x, feed_forward(x)), "ffn_norm");
  }
  const Matrix x = sum(input, attend(norm(input, "attention_norm")));
  return sum(x, feed_forward(norm(x, "ffn_norm")));
}

std::vector<Matrix> encoder(const Matrix& x, const Molecule& molecule, const ModelPlan& plan,
                            const Parameters& parameters, const Draws& draws,
                            std::vector<std::vector<Matrix>>* pair_states) {
  const EncoderOptions& o = plan.encoder;
  const PairClasses classes = pair_classes(molecule, plan.classes);
  std::vector<Matrix> states{x}, pairs = first_pair_states(molecule, classes, plan, parameters);
  for (int layer = 0; layer < o.layers; ++layer) {
    const AttentionTerms terms = attention_terms(molecule, classes, plan, parameters, draws, pairs, layer);
    if (pair_states != nullptr) pair_states->push_back(pairs);
    if (o.pair_state > 0) {
      const auto [q, k] = queries_and_keys(states.back(), o, parameters, layer);
      pairs = next_pair_states(q, k, classes, terms, parameters, layer_prefix(layer));
    }
    states.push_back(encoder_block(states.back(), molecule, classes, terms, o, parameters, draws, layer));
  }
  const bool normed = !o.post_ln && o.final_norm;
  states.push_back(normed ? layer_norm(states.back(), parameters, "encoder.final_norm") : states.back());
  return states;
}

}  // namespace molgraph::formula
