#include "attention/cpu/encoder.hpp"

#include <algorithm>
#include <cstring>

#include "attention/cpu/kernels/gemm_bf16.hpp"

namespace molgraph::cpu {
namespace {

// Vectors only grow: a smaller pack uses the front part.
template <class T>
T* sized(std::vector<T>& x, std::size_t count) {
  if (x.size() < count) x.resize(count);
  return x.data();
}

}  // namespace

// y = x times the matrix (+ bias); the weights of the `next` product are fetched meanwhile.
void Encoder::product(const PackedMatrix& matrix, const float* x, std::size_t rows, const float* bias, float* y,
                      const PackedLinear* next) {
  const Gemm g{.a = x,
               .a_stride = padded(matrix.depth),
               .rows = rows,
               .depth = matrix.depth,
               .weights = matrix.fp32.data(),
               .columns = matrix.columns,
               .bias = bias,
               .y = y,
               .y_stride = matrix.columns,
               .soon = next == nullptr ? Soon{} : Soon{next->forward.fp32.data(), next->forward.fp32.size()}};
  if (matrix.bf16.empty()) kernels_.gemm(g);
  else gemm_bf16(g, matrix.bf16.data(), sized(rounded_, gemm_bf16_scratch(g)));
}

void Encoder::multiply(const PackedLinear& linear, const float* x, std::size_t rows, float* y,
                       const PackedLinear* next) {
  product(linear.forward, x, rows, linear.bias, y, next);
}

Encoder::Encoder(const EncoderShape& shape)
    : shape_(shape), kernels_(kernels()), layers_count_(static_cast<std::size_t>(shape.options.layers)), terms_(shape),
      layers_(layers_count_), stages_(2 * layers_count_ + 1) {}

float* Encoder::input(std::size_t tokens) {
  Stage& first = stages_[0];
  return sized(shape_.options.post_ln ? first.normed : first.sum, tokens * shape_.stride);
}

// What half-layer s reads.
const float* Encoder::half_input(std::size_t s) { return stage(s).normed.data(); }

// The LayerNorm of stage s, or kNone.
std::size_t Encoder::norm_offset(const FlatLayout& layout, std::size_t s) const {
  if (shape_.options.post_ln) {  // behind every half-layer
    if (s == 0) return kNone;
    const LayerOffsets& layer = layout.layers[(s - 1) / 2];
    return s % 2 == 1 ? layer.attention_norm : layer.ffn_norm;
  }
  if (s == 2 * layers_count_) return layout.final_norm;
  return s % 2 == 0 ? layout.layers[s / 2].attention_norm : layout.layers[s / 2].ffn_norm;
}

// Whether the layers differ in what is added to the scores, or in their gate.
bool Encoder::own_relations() const { return !shape_.options.share_encodings || input_.pairs.bias.size() > 1; }
bool Encoder::own_gates() const { return shape_.options.gate.per_layer || input_.pairs.gate.size() > 1; }

const TableSet& Encoder::relations_of(const FlatLayout& layout, std::size_t layer) const {
  return shape_.options.share_encodings ? layout.shared : layout.layers[layer].own;
}
const TableSet& Encoder::gate_of(const FlatLayout& layout, std::size_t layer) const {
  return shape_.options.gate.per_layer ? layout.layers[layer].own : layout.shared;
}

void Encoder::load_terms(const EncoderWeights& weights, std::size_t layer, bool always) {
  const FlatLayout& layout = weights.layout();
  if (always || own_relations())
    terms_.load(weights, relations_of(layout, layer), pack(), PairInputs::of_layer(input_.pairs.bias, layer));
  if (always || own_gates())
    terms_.load_gate(weights, gate_of(layout, layer), pack(), PairInputs::of_layer(input_.pairs.gate, layer));
}

Attention Encoder::attention_of(std::size_t molecule, LayerState& state, bool virtual_only) {
  const MoleculeRelations& of = pack().molecules[molecule];
  Attention g{.tokens = of.tokens, .heads = shape_.heads, .head_width = shape_.head_width, .scale = shape_.scale};
  g.queries = virtual_only ? 1 : of.tokens;
  terms_.fill(pack(), molecule, g);
  g.stride = 3 * shape_.inner_stride;
  g.q = state.qkv.data() + of.first_token * g.stride;
  g.k = g.q + shape_.inner_stride;
  g.v = g.k + shape_.inner_stride;
  if (!state.weight_bits.empty())
    g.keep = {state.weight_bits.data() + of.first_pair * shape_.heads / 8, scale_of(shape_.options.attention_dropout)};
  if (keeps()) g.softmax = sized(state.softmax, pack().pairs * shape_.heads) + of.first_pair * shape_.heads;
  g.z = state.z.data() + (virtual_only ? molecule : of.first_token) * shape_.inner_stride;
  g.z_stride = shape_.inner_stride;
  g.scratch = sized(scratch_, kernels_.attention_scratch(of.tokens, shape_.heads, of.count(), keeps()));
  return g;
}

void Encoder::draw_token_bits(std::size_t layer, RandomSite site, std::size_t width, double p,
                              std::vector<std::uint8_t>& bits) {
  const std::uint32_t threshold = dropout_threshold(p);
  if (!input_.random.training || threshold == 0) return bits.clear();
  const std::size_t stride = padded(width);
  const bool virtual_only = is_virtual_only(2 * layer + 1);
  sized(bits, pack().tokens * stride / 8);
  for (std::size_t b = 0; b < pack().size(); ++b) {
    const MoleculeRelations& of = pack().molecules[b];
    const std::size_t tokens = virtual_only ? 1 : of.tokens, first = virtual_only ? b : of.first_token;
    std::uint16_t* draws = sized(draws_, tokens * width);
    random_draws(stream(b, layer, site), static_cast<std::int64_t>(tokens * width), draws);
    kernels_.channel_bits(draws, threshold, tokens, width, stride, bits.data() + first * stride / 8);
  }
}

void Encoder::draw_weight_bits(std::size_t layer, std::vector<std::uint8_t>& bits) {
  const std::uint32_t threshold = dropout_threshold(shape_.options.attention_dropout);
  if (!input_.random.training || threshold == 0) return bits.clear();
  const auto heads = static_cast<std::size_t>(shape_.options.heads);
  sized(bits, pack().pairs * shape_.heads / 8);
  for (std::size_t b = 0; b < pack().size(); ++b) {
    const MoleculeRelations& of = pack().molecules[b];
    const std::size_t pairs = of.tokens * of.tokens;
    std::uint16_t* draws = sized(draws_, heads * pairs);
    random_draws(stream(b, layer, RandomSite::attention_weights), static_cast<std::int64_t>(heads * pairs), draws);
    kernels_.head_bits(draws, threshold, heads, pairs, bits.data() + of.first_pair * shape_.heads / 8);
  }
}

RandomStream Encoder::stream(std::size_t molecule, std::size_t layer, RandomSite site) const {
  return {input_.random.seed,
          input_.random.step,
          static_cast<std::uint32_t>(input_.row[molecule]),
          static_cast<std::uint32_t>(layer),
          site,
          input_.random.ascent};
}

float Encoder::scale_of(double p) { return static_cast<float>(dropout_scale(dropout_threshold(p))); }

Keep Encoder::residual_keep(LayerState& state, std::size_t half) const {
  const std::vector<std::uint8_t>& bits = state.residual_bits[half % 2];
  return bits.empty() ? Keep{} : Keep{bits.data(), scale_of(shape_.options.dropout)};
}

// Stage s: sum = carry + drop(branch), and its LayerNorm if there is one.
void Encoder::norm(const EncoderWeights& weights, std::size_t s, const float* carry, const float* branch,
                   const Keep& keep) {
  Stage& at = stage(s);
  const std::size_t offset = norm_offset(weights.layout(), s), rows = rows_of(s), floats = rows * shape_.stride;
  kernels_.residual_norm({.rows = rows,
                          .width = shape_.width,
                          .stride = shape_.stride,
                          .x = carry,
                          .y = branch,
                          .keep = keep,
                          .weight = weights.at(offset),
                          .bias = offset == kNone ? nullptr : weights.at(offset) + shape_.stride,
                          .sum = sized(at.sum, floats),
                          .normed = offset == kNone ? nullptr : sized(at.normed, floats),
                          .statistics = sized(at.statistics, 2 * rows)});
}

void Encoder::attend(const PackedLayer& layer, std::size_t k, const float* x, LayerState& state) {
  const std::size_t tokens = pack().tokens, rows = rows_of(2 * k + 1);
  multiply(layer.qkv, x, tokens, sized(state.qkv, tokens * layer.qkv.forward.columns), &layer.output);
  sized(state.z, tokens * shape_.inner_stride);
  for (std::size_t b = 0; b < pack().size(); ++b) kernels_.attention(attention_of(b, state, rows < tokens));
  multiply(layer.output, state.z.data(), rows, sized(branch_, rows * shape_.stride), &layer.linear1);
}

void Encoder::feed_forward(const PackedLayer& layer, std::size_t k, const float* x, LayerState& state,
                           const PackedLinear* next) {
  const std::size_t rows = rows_of(2 * k + 1), floats = rows * shape_.ffn_stride;
  multiply(layer.linear1, x, rows, sized(state.hidden, floats), &layer.linear2);
  Keep keep;
  if (!state.activation_bits.empty())
    keep = {state.activation_bits.data(), scale_of(shape_.options.activation_dropout)};
  kernels_.gelu(state.hidden.data(), keeps() ? sized(state.slope, floats) : nullptr, rows, shape_.ffn_stride, keep);
  multiply(layer.linear2, state.hidden.data(), rows, sized(branch_, rows * shape_.stride), next);
}

void Encoder::keep_layer(const std::vector<KeptLayer>& kept, int layer, const float* states) const {
  for (const KeptLayer& wanted : kept) {
    if (wanted.layer != layer) continue;
    for (std::size_t t = 0; t < pack().tokens; ++t)
      std::copy_n(states + t * shape_.stride, shape_.width, wanted.states + t * shape_.width);
  }
}

void Encoder::forward(const EncoderWeights& weights, const PackInput& input, const std::vector<KeptLayer>& kept,
                      float* graph) {
  input_ = input;
  // Nobody reads the other tokens of the last layer: they are keys and values there, and nothing else.
  virtual_only_ = std::none_of(kept.begin(), kept.end(), [&](const KeptLayer& k) {
    return k.layer < 0 || k.layer == static_cast<int>(layers_count_);
  });
  const bool post_ln = shape_.options.post_ln;
  const std::size_t last = 2 * layers_count_;
  load_terms(weights, 0, true);
  keep_layer(kept, 0, post_ln ? stage(0).normed.data() : stage(0).sum.data());
  if (!post_ln) norm(weights, 0, stage(0).sum.data(), nullptr, {});
  for (std::size_t s = 0; s < last; ++s) {
    const std::size_t k = s / 2;
    LayerState& state = state_of(k);
    if (s % 2 == 0) {
      if (k > 0) load_terms(weights, k, false);
      draw_token_bits(k, RandomSite::attention_residual, shape_.width, shape_.options.dropout, state.residual_bits[0]);
      draw_token_bits(k, RandomSite::ffn_residual, shape_.width, shape_.options.dropout, state.residual_bits[1]);
      draw_token_bits(k, RandomSite::ffn_activation, shape_.ffn, shape_.options.activation_dropout,
                      state.activation_bits);
      draw_weight_bits(k, state.weight_bits);
      attend(weights.layer(k), k, half_input(s), state);
    } else {
      feed_forward(weights.layer(k), k, half_input(s), state,
                   k + 1 < layers_count_ ? &weights.layer(k + 1).qkv : nullptr);
    }
    const float* carry = post_ln ? stage(s).normed.data() : stage(s).sum.data();
    if (rows_of(s + 1) < rows_of(s)) carry = virtual_rows(carry);
    norm(weights, s + 1, carry, branch_.data(), residual_keep(state, s));
    if (s % 2 == 1)
      keep_layer(kept, static_cast<int>(k) + 1, post_ln ? stage(s + 1).normed.data() : stage(s + 1).sum.data());
  }
  const bool normed = norm_offset(weights.layout(), last) != kNone;
  const float* output = normed ? stage(last).normed.data() : stage(last).sum.data();
  keep_layer(kept, -1, output);
  std::copy_n(virtual_only_ ? output : virtual_rows(output), pack().size() * shape_.stride, graph);
}

// Rows of stage s: those of all tokens, or behind the last layer's attention those of the virtual nodes.
std::size_t Encoder::rows_of(std::size_t s) const { return is_virtual_only(s) ? pack().size() : pack().tokens; }
bool Encoder::is_virtual_only(std::size_t s) const { return virtual_only_ && s + 1 >= 2 * layers_count_; }

const float* Encoder::virtual_rows(const float* x) {
  float* rows = sized(virtual_, pack().size() * shape_.stride);
  for (std::size_t b = 0; b < pack().size(); ++b)
    std::copy_n(x + pack().molecules[b].first_token * shape_.stride, shape_.stride, rows + b * shape_.stride);
  return rows;
}

// --- the way back ---

// From a row per molecule to a row per token in place, zero but at the virtual nodes.
void Encoder::spread_virtual_rows(float* x) const {
  const std::size_t stride = shape_.stride;
  for (std::size_t b = pack().size(); b-- > 0;) {  // from the end: a row never moves forward
    const MoleculeRelations& of = pack().molecules[b];
    std::memmove(x + of.first_token * stride, x + b * stride, stride * sizeof(float));
    std::fill_n(x + (of.first_token + 1) * stride, (of.tokens - 1) * stride, 0.0f);
  }
}

void Encoder::norm_back(const EncoderWeights& weights, std::size_t s, const float* dy, float* dx, bool accumulate,
                        float* flat) {
  const std::size_t offset = norm_offset(weights.layout(), s);
  kernels_.norm_gradient({.rows = rows_of(s),
                          .width = shape_.width,
                          .stride = shape_.stride,
                          .sum = stage(s).sum.data(),
                          .statistics = stage(s).statistics.data(),
                          .dy = dy,
                          .weight = weights.at(offset),
                          .dx = dx,
                          .dweight = flat + offset,
                          .dbias = flat + offset + shape_.stride,
                          .accumulate = accumulate});
}

// dx = dy W^T; the weight's and the bias's gradients are added up.
void Encoder::linear_back(const PackedLinear& linear, const LinearOffsets& offsets, std::size_t rows, const float* x,
                          const float* dy, float* dx, float* flat) {
  const WeightGradient g{.a = x,
                         .a_stride = offsets.in_stride,
                         .rows = rows,
                         .depth = offsets.in,
                         .y = dy,
                         .y_stride = offsets.out_stride,
                         .columns = offsets.out_stride,
                         .weights = flat + offsets.weight,
                         .soon = {linear.backward.fp32.data(), linear.backward.fp32.size()}};
  if (linear.backward.bf16.empty()) kernels_.weight_gradient(g);
  else weight_gradient_bf16(g, sized(rounded_, weight_gradient_bf16_scratch(g)));
  kernels_.column_sums(dy, rows, offsets.out_stride, offsets.out_stride, flat + offsets.bias);
  product(linear.backward, dy, rows, nullptr, dx);
}

void Encoder::attend_back(const EncoderWeights& weights, std::size_t k, const float* dy, float* dx, float* flat) {
  const PackedLayer& layer = weights.layer(k);
  const LayerOffsets& offsets = weights.layout().layers[k];
  LayerState& state = state_of(k);
  const std::size_t tokens = pack().tokens, rows = rows_of(2 * k + 1);
  const bool virtual_only = rows < tokens;
  float* dz = sized(dhidden_, tokens * std::max(shape_.inner_stride, shape_.ffn_stride));
  linear_back(layer.output, offsets.output, rows, state.z.data(), dy, dz, flat);
  float* dqkv = sized(dqkv_, tokens * layer.qkv.forward.columns);
  if (shape_.inner < shape_.inner_stride || virtual_only) std::fill_n(dqkv, tokens * layer.qkv.forward.columns, 0.0f);
  for (std::size_t b = 0; b < pack().size(); ++b) {
    const MoleculeRelations& of = pack().molecules[b];
    AttentionGradient d{.dz = dz + (virtual_only ? b : of.first_token) * shape_.inner_stride,
                        .dz_stride = shape_.inner_stride};
    terms_.fill(pack(), b, d);
    d.dq = dqkv + of.first_token * layer.qkv.forward.columns;
    d.dk = d.dq + shape_.inner_stride;
    d.dv = d.dk + shape_.inner_stride;
    kernels_.attention_gradient(attention_of(b, state, virtual_only), d);
  }
  linear_back(layer.qkv, offsets.qkv, tokens, half_input(2 * k), dqkv, dx, flat);
}

void Encoder::feed_forward_back(const EncoderWeights& weights, std::size_t k, const float* dy, float* dx, float* flat) {
  const PackedLayer& layer = weights.layer(k);
  const LayerOffsets& offsets = weights.layout().layers[k];
  LayerState& state = state_of(k);
  const std::size_t rows = rows_of(2 * k + 1), floats = rows * shape_.ffn_stride;
  float* dhidden = sized(dhidden_, pack().tokens * std::max(shape_.inner_stride, shape_.ffn_stride));
  linear_back(layer.linear2, offsets.linear2, rows, state.hidden.data(), dy, dhidden, flat);
  kernels_.multiply(state.slope.data(), dhidden, floats);
  linear_back(layer.linear1, offsets.linear1, rows, half_input(2 * k + 1), dhidden, dx, flat);
}

const float* Encoder::backward(const EncoderWeights& weights, const float* dgraph, const PackGradient& gradient) {
  const FlatLayout& layout = weights.layout();
  const EncoderOptions& o = shape_.options;
  const std::size_t floats = pack().tokens * shape_.stride, last = 2 * layers_count_;
  // `flow` is the gradient of what is carried along: of `sum` with pre-LN, of `normed` with post-LN.
  float *flow = sized(flow_, floats), *dy = sized(dy_, floats), *dbranch = sized(dbranch_, floats);
  std::copy_n(dgraph, pack().size() * shape_.stride, flow);
  if (!virtual_only_) spread_virtual_rows(flow);
  if (!o.post_ln && layout.final_norm != kNone) {
    std::copy_n(flow, rows_of(last) * shape_.stride, dy);
    norm_back(weights, last, dy, flow, false, gradient.flat);
  }
  terms_.clear_gradients();
  terms_.clear_gate_gradients();
  for (std::size_t s = last; s-- > 0;) {
    const std::size_t k = s / 2, rows = rows_of(s + 1);
    if (o.post_ln) {
      norm_back(weights, s + 1, flow, dbranch, false, gradient.flat);
      std::swap(flow, dbranch);
    }
    const Keep keep = residual_keep(state_of(k), s);
    const float* branch_slope = flow;
    if (keep.bits != nullptr) {
      kernels_.drop(flow, dy, rows, shape_.stride, keep);
      branch_slope = dy;
    }
    if (s % 2 == 1) {
      feed_forward_back(weights, k, branch_slope, dbranch, gradient.flat);
    } else {
      if (k + 1 < layers_count_) load_terms(weights, k, false);  // the last layer's are still there
      attend_back(weights, k, branch_slope, dbranch, gradient.flat);
      finish_terms(weights, k, gradient);
    }
    if (rows < rows_of(s)) spread_virtual_rows(flow);
    if (o.post_ln) kernels_.add(dbranch, flow, rows_of(s) * shape_.stride);
    else norm_back(weights, s, dbranch, flow, true, gradient.flat);
  }
  return flow;
}

// Takes the terms' gradients to their tables: after every layer if the layers have their own, else after the first
// layer.
void Encoder::finish_terms(const EncoderWeights& weights, std::size_t k, const PackGradient& gradient) {
  const FlatLayout& layout = weights.layout();
  if (own_relations() || k == 0) {
    terms_.add_gradients(relations_of(layout, k), pack(), gradient.flat,
                         PairGradients::of_layer(gradient.pairs.bias, k));
    terms_.clear_gradients();
  }
  if (own_gates() || k == 0) {
    terms_.add_gate_gradients(gate_of(layout, k), pack(), gradient.flat,
                              PairGradients::of_layer(gradient.pairs.gate, k));
    terms_.clear_gate_gradients();
  }
}

}  // namespace molgraph::cpu
