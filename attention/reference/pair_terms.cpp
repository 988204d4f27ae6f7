#include "attention/reference/pair_terms.hpp"

#include "attention/reference/absolute_encodings.hpp"
#include "attention/reference/path_bias.hpp"
#include "attention/reference/resistance_values.hpp"
#include "attention/reference/walk_values.hpp"

namespace molgraph {

const torch::Tensor& TermInput::walks(int steps) {
  if (!walks_.defined() || walks_.size(1) != steps)
    walks_ = node_positions(batch, NodePosition::random_walk, {.steps = steps}, mode_, like_);
  return walks_;
}

const torch::Tensor& TermInput::pair_walks(const PairVector& vector) {
  if (!pair_walks_.defined() || pair_vector_ != vector)
    pair_walks_ = molgraph::pair_walks(batch, vector).to(like_.dtype());
  pair_vector_ = vector;
  return pair_walks_;
}

PairValues pair_values(const PairTerm& term, const ParameterTree& parameters, TermInput& input) {
  switch (term.kind) {
    case PairTerm::Kind::path:
      return {.dense =
                  path_values(parameters[term.prefix + "bond"], parameters[term.prefix + "hop_weight"], input.batch)};
    case PairTerm::Kind::absolute: return absolute_values(parameters, term.prefix, input.batch, input.walks(term.size));
    case PairTerm::Kind::walk: return walk_values(parameters[term.prefix + "weight"], input.pair_walks(term.vector));
    case PairTerm::Kind::resistance: break;
  }
  return resistance_values(parameters, term.prefix, input.batch);
}

}  // namespace molgraph
