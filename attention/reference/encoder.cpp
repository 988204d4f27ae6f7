#include "attention/reference/encoder.hpp"

#include <utility>

#include "attention/reference/absolute_encodings.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph {
namespace {

using torch::Tensor;

Tensor drop(const Tensor& x, const Tensor& factors) { return factors.defined() ? x * factors : x; }

// log(1 + degree) of every token in the layout's order, [grouped tokens, 1]; 0 for virtual nodes.
Tensor log_degrees(const GraphBatch& batch, const AttentionLayout& layout, const torch::TensorOptions& like) {
  std::vector<double> degrees;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    degrees.push_back(0);
    for (std::int64_t a = batch.atom_offset[b]; a < batch.atom_offset[b + 1]; ++a)
      degrees.push_back(log_degree(batch.degree[static_cast<std::size_t>(a)]));
  }
  return torch::tensor(degrees, torch::kFloat64).to(like.dtype()).index_select(0, layout.to_grouped).unsqueeze(1);
}

}  // namespace

struct Encoder::Pass {
  Pass(const GraphBatch& batch, const RelationClasses& classes, const ForwardMode& in,
       const torch::TensorOptions& numbers)
      : mode(in), like(numbers), layout(make_layout(batch, classes)), masks(batch, layout, in, numbers),
        input(batch, in, numbers) {}

  const ForwardMode& mode;
  torch::TensorOptions like;
  AttentionLayout layout;
  DropoutMasks masks;
  TermInput input;
  std::vector<PairValues> shared;  ///< values of the pair terms, in their order; empty for terms of one layer
  PairValues given;
  PairStates pair_states;  ///< before the next layer, with EncoderOptions::pair_state
  Tensor log_degree;       ///< [grouped tokens, 1]; undefined without EncoderOptions::degree_scaler
};

Encoder::Encoder(const EncoderOptions& options, const ParameterTree& parameters, std::string prefix,
                 std::vector<PairTerm> terms)
    : options_(options), parameters_(parameters), prefix_(std::move(prefix)), pair_terms_(std::move(terms)) {
  TORCH_CHECK(options.heads > 0 && options.width % options.heads == 0, "width ", options.width,
              " is not a multiple of the number of heads ", options.heads);
  TORCH_CHECK(options.pair_vector().size() > 0 || !uses_position_dim(options), "the dimension of positions is 0");
  TORCH_CHECK(!options.terms.global_bias || options.terms.topology_query, "global_bias requires topology_query");
}

Tensor Encoder::forward(Tensor x, const GraphBatch& batch, const RelationClasses& classes, const ForwardMode& mode,
                        std::vector<Tensor>* kept, const PairValues& given) const {
  Pass pass(batch, classes, mode, x.options());
  pass.given = given;
  if (options_.degree_scaler) pass.log_degree = log_degrees(batch, pass.layout, pass.like);
  for (const PairTerm& term : pair_terms_)
    pass.shared.push_back(term.layer < 0 ? pair_values(term, parameters_, pass.input) : PairValues());
  std::vector<Tensor> states(mode.keep_layers.size());
  const auto keep = [&](int layer, const Tensor& state) {
    for (std::size_t k = 0; k < states.size(); ++k)
      if (mode.keep_layers[k] == layer) states[k] = state.index_select(0, pass.layout.to_packed);
  };

  x = input(x, batch, pass);
  keep(0, x);
  if (options_.pair_state > 0)
    pass.pair_states =
        first_pair_states(parameters_, prefix_, pass.layout,
                          weights_pair_vectors(options_) ? pass.input.pair_walks(options_.pair_vector()) : Tensor());
  const bool share_terms = options_.share_encodings, share_gates = !options_.gate.per_layer;
  const BatchTerms shared_terms = share_terms ? terms_of(-1, pass) : BatchTerms();
  const std::vector<Tensor> shared_gates = share_gates ? gates_of(-1, pass) : std::vector<Tensor>();
  for (int k = 0; k < options_.layers; ++k) {
    x = block(k, x, share_terms ? shared_terms : terms_of(k, pass), share_gates ? shared_gates : gates_of(k, pass),
              pass);
    keep(k + 1, x);
  }
  if (!options_.post_ln && options_.final_norm) x = parameters_.norm(x, prefix_ + "final_norm");
  keep(-1, x);
  if (kept != nullptr) *kept = std::move(states);
  return x.index_select(0, pass.layout.to_packed);
}

// Packed tokens -> input of the first block, in the layout's order.
Tensor Encoder::input(Tensor x, const GraphBatch& batch, const Pass& pass) const {
  if (options_.position != NodePosition::none)
    x = x + torch::linear(node_positions(batch, options_.position, options_.pair_vector(), pass.mode, pass.like),
                          parameters_[prefix_ + "position.weight"]);
  if (pass.mode.perturbation.defined()) x = x + pass.mode.perturbation;
  if (options_.input_norm) x = parameters_.norm(x, prefix_ + "input_norm");
  return drop(x.index_select(0, pass.layout.to_grouped),
              pass.masks.tokens(0, RandomSite::input_dropout, options_.width, options_.input_dropout));
}

Tensor Encoder::block(int layer, Tensor x, const BatchTerms& terms, const std::vector<Tensor>& gates,
                      Pass& pass) const {
  const std::string name = owner_prefix(prefix_, layer);
  if (options_.post_ln) {
    x = parameters_.norm(x + attend(layer, x, terms, gates, pass), name + "attention_norm");
    return parameters_.norm(x + feed_forward(layer, x, pass), name + "ffn_norm");
  }
  x = x + attend(layer, parameters_.norm(x, name + "attention_norm"), terms, gates, pass);
  return x + feed_forward(layer, parameters_.norm(x, name + "ffn_norm"), pass);
}

Tensor Encoder::attend(int layer, const Tensor& x, const BatchTerms& terms, const std::vector<Tensor>& gates,
                       Pass& pass) const {
  const std::string name = owner_prefix(prefix_, layer) + "attention.";
  PairStates* const pairs = options_.pair_state > 0 ? &pass.pair_states : nullptr;
  if (pairs != nullptr) pairs->load(parameters_, owner_prefix(prefix_, layer));
  const auto joined = [&](const char* part) {  // query, key and value in one product
    return torch::cat(
        {parameters_[name + "query." + part], parameters_[name + "key." + part], parameters_[name + "value." + part]});
  };
  const Tensor qkv = torch::linear(x, joined("weight"), joined("bias"));
  const Tensor z = attention(qkv, pass.layout, terms, gates,
                             pass.masks.attention(layer, options_.heads, options_.attention_dropout), pairs);
  const Tensor scaled = options_.degree_scaler
                            ? z * (parameters_[name + "scale"] + pass.log_degree * parameters_[name + "degree_scale"])
                            : z;
  return drop(parameters_.linear(scaled, name + "output"),
              pass.masks.tokens(layer, RandomSite::attention_residual, options_.width, options_.dropout));
}

Tensor Encoder::feed_forward(int layer, const Tensor& x, const Pass& pass) const {
  const std::string name = owner_prefix(prefix_, layer) + "ffn.";
  const Tensor inner =
      drop(torch::gelu(parameters_.linear(x, name + "linear1")),
           pass.masks.tokens(layer, RandomSite::ffn_activation, options_.ffn, options_.activation_dropout));
  return drop(parameters_.linear(inner, name + "linear2"),
              pass.masks.tokens(layer, RandomSite::ffn_residual, options_.width, options_.dropout));
}

BatchTerms Encoder::terms_of(int layer, Pass& pass) const {
  std::vector<PairValues> values = added(TermFills::bias, layer, pass);
  values.push_back(pass.given);
  return make_terms(filled(relation_tables(options_), layer), values, pass.layout,
                    {options_.heads, !options_.untie_virtual, options_.key_term, options_.score_terms}, pass.like,
                    has_walk_rows(options_.terms) ? pass.input.pair_walks(options_.pair_vector()) : Tensor());
}

std::vector<Tensor> Encoder::gates_of(int layer, Pass& pass) const {
  if (!options_.gate.enabled) return {};
  return make_gates(filled(gate_tables(options_), layer), added(TermFills::gate, layer, pass), options_.gate.relu,
                    pass.layout);
}

std::vector<FilledTable> Encoder::filled(std::vector<RelationTable> tables, int layer) const {
  const std::string owner = owner_prefix(prefix_, layer);
  std::vector<FilledTable> all;
  for (RelationTable& table : tables) {
    const Tensor rows = parameters_[owner + table.name];
    const Tensor position = table.row == RelationTable::Row::all ? parameters_[owner + "position_bias"] : Tensor();
    all.push_back({std::move(table), rows, position});
  }
  return all;
}

std::vector<PairValues> Encoder::added(TermFills fills, int layer, Pass& pass) const {
  std::vector<PairValues> values;
  for (std::size_t k = 0; k < pair_terms_.size(); ++k) {
    const PairTerm& term = pair_terms_[k];
    if (term.fills != fills || (term.layer >= 0 && term.layer != layer)) continue;
    values.push_back(term.layer < 0 ? pass.shared[k] : pair_values(term, parameters_, pass.input));
  }
  return values;
}

}  // namespace molgraph
