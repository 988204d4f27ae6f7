#include "attention/reference/encoder.hpp"

#include <algorithm>

namespace molgraph {
namespace {

using torch::Tensor;

constexpr double kTableStd = 0.02;

torch::nn::LayerNorm layer_norm(int width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kLayerNormEpsilon));
}

RelationTables register_tables(torch::nn::Module& owner, const EncoderOptions& options, const ClassCounts& classes) {
  const auto table = [&](const char* name, bool on, int rows) {
    return on ? owner.register_parameter(name, torch::randn({rows, options.width}) * kTableStd) : Tensor();
  };
  const RelationTerms& terms = options.terms;
  RelationTables tables;
  if (terms.bias)
    tables.spatial = owner.register_parameter(
        "spatial", torch::zeros({options.untie_virtual ? classes.topology : classes.topology - 2, options.heads}));
  tables.topology_query = table("topology_query", terms.topology_query, classes.topology);
  tables.topology_key = table("topology_key", terms.topology_key, classes.topology);
  tables.topology_value = table("topology_value", terms.topology_value, classes.topology);
  tables.edge_query = table("edge_query", terms.edge_query, classes.edge);
  tables.edge_key = table("edge_key", terms.edge_key, classes.edge);
  tables.edge_value = table("edge_value", terms.edge_value, classes.edge);
  if (terms.global_bias) {
    TORCH_CHECK(terms.topology_query, "the global bias v.PQ[t] needs the table PQ");
    tables.content_bias = owner.register_parameter("content_bias", torch::zeros({options.width}));
    tables.position_bias = owner.register_parameter("position_bias", torch::zeros({options.width}));
  }
  return tables;
}

/// Registers with `owner` the relation terms and the gate, as asked for.
Encodings register_encodings(torch::nn::Module& owner, const EncoderOptions& options, const ClassCounts& classes,
                             bool relations, bool gate) {
  Encodings own;
  if (relations) own.tables = register_tables(owner, options, classes);
  if (relations && options.terms.absolute_bias)
    own.absolute = owner.register_module("absolute", AbsoluteBias(options.heads, options.position_dim));
  if (!gate) return own;
  own.gate = owner.register_parameter("gate", torch::ones({classes.topology, options.heads}));
  if (options.gate.path_hops > 0) {
    own.gate_path = owner.register_module("gate_path", PathBias(classes.features, options.heads, options.gate.path_hops));
    torch::NoGradGuard no_grad;
    own.gate_path->hop_weight.zero_();  // the bonds' embeddings stay random: two zero factors would never learn
  }
  return own;
}

Tensor drop(const Tensor& x, const Tensor& factors) { return factors.defined() ? x * factors : x; }

}  // namespace

AttentionProjectionsImpl::AttentionProjectionsImpl(int width)
    : query(register_module("query", torch::nn::Linear(width, width))),
      key(register_module("key", torch::nn::Linear(width, width))),
      value(register_module("value", torch::nn::Linear(width, width))),
      output(register_module("output", torch::nn::Linear(width, width))) {}

Tensor AttentionProjectionsImpl::project(const Tensor& x) const {
  return torch::linear(x, torch::cat({query->weight, key->weight, value->weight}),
                       torch::cat({query->bias, key->bias, value->bias}));
}

FeedForwardImpl::FeedForwardImpl(int width, int ffn)
    : linear1(register_module("linear1", torch::nn::Linear(width, ffn))),
      linear2(register_module("linear2", torch::nn::Linear(ffn, width))) {}

Tensor FeedForwardImpl::forward(const Tensor& x, const Tensor& activation_factors) {
  return linear2->forward(drop(torch::gelu(linear1->forward(x)), activation_factors));
}

EncoderBlockImpl::EncoderBlockImpl(const EncoderOptions& options, const ClassCounts& classes, int index)
    : attention_norm(register_module("attention_norm", layer_norm(options.width))),
      ffn_norm(register_module("ffn_norm", layer_norm(options.width))),
      attention(register_module("attention", AttentionProjections(options.width))),
      ffn(register_module("ffn", FeedForward(options.width, options.ffn))),
      options_(options),
      index_(index) {
  own = register_encodings(*this, options, classes, !options.share_encodings,
                           options.gate.enabled && options.gate.per_layer);
}

Tensor EncoderBlockImpl::forward(Tensor x, const AttentionLayout& layout, const BatchTerms& terms,
                                 const std::vector<Tensor>& gates, const DropoutMasks& masks) {
  const auto attend = [&](const Tensor& input) {
    const Tensor z = molgraph::attention(attention->project(input), layout, terms, gates,
                                         masks.attention(index_, options_.heads, options_.attention_dropout));
    return drop(attention->output->forward(z),
                masks.tokens(index_, RandomSite::attention_residual, options_.width, options_.dropout));
  };
  const auto feed_forward = [&](const Tensor& input) {
    const Tensor y = ffn->forward(
        input, masks.tokens(index_, RandomSite::ffn_activation, options_.ffn, options_.activation_dropout));
    return drop(y, masks.tokens(index_, RandomSite::ffn_residual, options_.width, options_.dropout));
  };
  if (options_.post_ln) {
    x = attention_norm->forward(x + attend(x));
    return ffn_norm->forward(x + feed_forward(x));
  }
  x = x + attend(attention_norm->forward(x));
  return x + feed_forward(ffn_norm->forward(x));
}

EncoderImpl::EncoderImpl(const EncoderOptions& options, int topology_classes, int edge_classes, Features features)
    : options_(options), classes_{topology_classes, edge_classes, features} {
  TORCH_CHECK(options.heads > 0 && options.width % options.heads == 0, "width ", options.width,
              " is no multiple of the number of heads ", options.heads);
  TORCH_CHECK(options.position_dim > 0 || (options.position == NodePosition::none && !options.terms.absolute_bias),
              "positions of atoms need a dimension");
  shared = register_encodings(*this, options, classes_, options.share_encodings,
                              options.gate.enabled && !options.gate.per_layer);
  if (options.position != NodePosition::none)
    position = register_module(
        "position", torch::nn::Linear(torch::nn::LinearOptions(options.position_dim, options.width).bias(false)));
  if (options.input_norm) input_norm = register_module("input_norm", layer_norm(options.width));
  layers = register_module("layers", torch::nn::ModuleList());
  for (int k = 0; k < options.layers; ++k) layers->push_back(EncoderBlock(options, classes_, k));
  if (!options.post_ln && options.final_norm) final_norm = register_module("final_norm", layer_norm(options.width));
}

Tensor EncoderImpl::add_positions(const Tensor& x, const GraphBatch& batch, const ForwardMode& mode) const {
  if (!position) return x;
  return x + torch::linear(node_positions(batch, options_.position, options_.position_dim, mode, x.options()),
                           position->weight);
}

Tensor EncoderImpl::forward(Tensor x, const GraphBatch& batch, const RelationClasses& classes, const Tensor& pair_bias,
                            const ForwardMode& mode, std::vector<Tensor>* kept) {
  const AttentionLayout layout = make_layout(batch, classes);
  const DropoutMasks masks(batch, layout, mode, x.options());
  std::vector<Tensor> states(mode.keep_layers.size());
  const auto keep = [&](int layer, const Tensor& state) {
    for (std::size_t k = 0; k < states.size(); ++k)
      if (mode.keep_layers[k] == layer) states[k] = state.index_select(0, layout.to_packed);
  };
  Tensor walks;
  if (options_.terms.absolute_bias)
    walks = node_positions(batch, NodePosition::random_walk, options_.position_dim, mode, x.options());
  const auto terms_of = [&](Encodings& owner) {
    PairBias bias = owner.absolute ? owner.absolute->forward(batch, walks) : PairBias();
    bias.dense = pair_bias;
    return make_terms(owner.tables, bias, layout,
                      {options_.heads, classes_.topology, options_.key_term, options_.score_terms}, x.options());
  };
  const auto gates_of = [&](Encodings& owner) {
    if (!owner.gate.defined()) return std::vector<Tensor>();
    const Tensor path = owner.gate_path ? owner.gate_path->forward(batch) : Tensor();
    return make_gates(owner.gate, path, options_.gate.relu, layout);
  };

  x = add_positions(x, batch, mode);
  if (mode.perturbation.defined()) x = x + mode.perturbation;
  if (input_norm) x = input_norm->forward(x);
  x = drop(x.index_select(0, layout.to_grouped),
           masks.tokens(0, RandomSite::input_dropout, options_.width, options_.input_dropout));
  keep(0, x);
  const BatchTerms shared_terms = options_.share_encodings ? terms_of(shared) : BatchTerms();
  const std::vector<Tensor> shared_gates = gates_of(shared);
  for (int k = 0; k < options_.layers; ++k) {
    auto& block = *layers->ptr<EncoderBlockImpl>(static_cast<std::size_t>(k));
    x = block.forward(x, layout, options_.share_encodings ? shared_terms : terms_of(block.own),
                      options_.gate.per_layer ? gates_of(block.own) : shared_gates, masks);
    keep(k + 1, x);
  }
  if (final_norm) x = final_norm->forward(x);
  keep(-1, x);
  x = x.index_select(0, layout.to_packed);
  if (kept != nullptr) *kept = std::move(states);
  return x;
}

}  // namespace molgraph
