#include "attention/cpu/encoder.hpp"

#include <algorithm>
#include <cstring>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {
// y = x times the matrix (+ bias). Prefetches the weights of the `next` product meanwhile.
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
               .prefetch = next == nullptr ? PrefetchRange{}
                                           : PrefetchRange{next->forward.fp32.data(), next->forward.fp32.size()}};
  if (matrix.bf16.empty()) kernels_.gemm(g);
  else gemm_bf16(g, matrix.bf16.data(), sized(rounded_, gemm_bf16_scratch(g)));
}

void Encoder::multiply(const PackedLinear& linear, const float* x, std::size_t rows, float* y,
                       const PackedLinear* next) {
  product(linear.forward, x, rows, linear.bias, y, next);
}

Encoder::Encoder(const EncoderShape& shape)
    : shape_(shape), kernels_(*shape.kernels), layers_count_(static_cast<std::size_t>(shape.options.layers)),
      terms_(shape), pair_states_(shape), layers_(layers_count_), stages_(2 * layers_count_ + 1) {}

float* Encoder::input(std::size_t tokens) {
  Stage& first = stages_[0];
  return sized(shape_.options.post_ln ? first.normed : first.sum, tokens * shape_.stride);
}

// Input of half-layer s.
const float* Encoder::half_input(std::size_t s) { return stage(s).normed.data(); }

// Offset of the LayerNorm of stage s, or kNone.
std::size_t Encoder::norm_offset(const FlatLayout& layout, std::size_t s) const {
  if (shape_.options.post_ln) {  // after every half-layer
    if (s == 0) return kNone;
    const LayerOffsets& layer = layout.layers[(s - 1) / 2];
    return s % 2 == 1 ? layer.attention_norm : layer.ffn_norm;
  }
  if (s == 2 * layers_count_) return layout.final_norm;
  return s % 2 == 0 ? layout.layers[s / 2].attention_norm : layout.layers[s / 2].ffn_norm;
}

// True if layers have their own score terms (own_relations) or their own gate (own_gates).
bool Encoder::own_relations() const { return !shape_.options.share_encodings || input_.pairs.bias.size() > 1; }
bool Encoder::own_gates() const { return shape_.options.gate.per_layer || input_.pairs.gate.size() > 1; }

const TableSet& Encoder::relations_of(const FlatLayout& layout, std::size_t layer) const {
  return shape_.options.share_encodings ? layout.shared : layout.layers[layer].own;
}
const TableSet& Encoder::gate_of(const FlatLayout& layout, std::size_t layer) const {
  return shape_.options.gate.per_layer ? layout.layers[layer].own : layout.shared;
}

void Encoder::load_terms(const EncoderWeights& weights, std::size_t layer, bool force) {
  const FlatLayout& layout = weights.layout();
  if (force || own_relations())
    terms_.load(weights, relations_of(layout, layer), pack(), PairInputs::of_layer(input_.pairs.bias, layer));
  if (force || own_gates())
    terms_.load_gate(weights, gate_of(layout, layer), pack(), PairInputs::of_layer(input_.pairs.gate, layer));
}

void Encoder::arrange_walks() {
  const std::size_t steps = shape_.steps;
  if (steps == 0) return;
  first_walk_.clear();
  std::size_t floats = 0;
  for (const MoleculeRelations& of : pack().molecules) {
    first_walk_.push_back(floats);
    floats += kernels_.walk_floats(of.tokens, shape_.heads, steps);
  }
  const bool keys = shape_.options.terms.walk_key;
  float *by_query = sized(walks_, floats), *by_key = sized(walks_by_key_, keys ? floats : 0);
  for (std::size_t b = 0; b < pack().size(); ++b) {
    const MoleculeRelations& of = pack().molecules[b];
    const float* from = input_.walks + of.first_pair * steps;
    kernels_.arrange_walks(from, of.tokens, shape_.heads, steps, false, by_query + first_walk_[b]);
    if (keys) kernels_.arrange_walks(from, of.tokens, shape_.heads, steps, true, by_key + first_walk_[b]);
  }
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
  if (keeps_activations()) g.softmax = sized(state.softmax, pack().pairs * shape_.heads) + of.first_pair * shape_.heads;
  g.z = state.z.data() + (virtual_only ? molecule : of.first_token) * shape_.inner_stride;
  g.z_stride = shape_.inner_stride;
  if (shape_.steps > 0 && !virtual_only) {
    g.steps = shape_.steps;
    g.walks = walks_.data() + first_walk_[molecule];
    if (g.walk_key != nullptr) g.walks_by_key = walks_by_key_.data() + first_walk_[molecule];
  } else {  // walks from the virtual node are zero
    g.walk_query = g.walk_key = g.walk_value = nullptr;
  }
  g.scratch =
      sized(scratch_, kernels_.attention_scratch(of.tokens, shape_.heads, of.count(), g.steps, keeps_activations()));
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

// Computes stage s: sum = carry + drop(branch), and its LayerNorm if there is one.
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

float Encoder::log_degree_of(std::size_t row, bool virtual_only) const {
  return virtual_only ? 0.0f : input_.log_degree[row];
}

// z times a + b log(1 + degree); z if `scaler` is null.
const float* Encoder::scale_by_degree(const float* scaler, std::size_t rows, LayerState& state) {
  if (scaler == nullptr) return state.z.data();
  const std::size_t stride = shape_.inner_stride;
  const float *a = scaler, *b = a + stride, *z = state.z.data();
  float* scaled = sized(state.scaled, pack().tokens * stride);
  for (std::size_t i = 0; i < rows; ++i) {
    const float degree = log_degree_of(i, rows < pack().tokens);
    for (std::size_t c = 0; c < stride; ++c) scaled[i * stride + c] = z[i * stride + c] * (a[c] + b[c] * degree);
  }
  return scaled;
}

void Encoder::attend(const EncoderWeights& weights, std::size_t k, const float* x, LayerState& state) {
  const PackedLayer& layer = weights.layer(k);
  const std::size_t tokens = pack().tokens, rows = rows_of(2 * k + 1);
  multiply(layer.qkv, x, tokens, sized(state.qkv, tokens * layer.qkv.forward.columns), &layer.output);
  sized(state.z, tokens * shape_.inner_stride);
  for (std::size_t b = 0; b < pack().size(); ++b) {
    Attention g = attention_of(b, state, rows < tokens);
    if (has_pair_states()) {
      if (k + 1 < layers_count_)
        g.softmax = sized(state.softmax, pack().pairs * shape_.heads) + pack().molecules[b].first_pair * shape_.heads;
      pair_states_.fill(pack(), k, b, terms_.bias(), g);
    }
    kernels_.attention(g);
    if (has_pair_states()) pair_states_.step(weights, pack(), k, b, g);
  }
  const float* z = scale_by_degree(weights.at(weights.layout().layers[k].degree_scaler), rows, state);
  multiply(layer.output, z, rows, sized(branch_, rows * shape_.stride), &layer.linear1);
}

void Encoder::feed_forward(const PackedLayer& layer, std::size_t k, const float* x, LayerState& state,
                           const PackedLinear* next) {
  const std::size_t rows = rows_of(2 * k + 1), floats = rows * shape_.ffn_stride;
  multiply(layer.linear1, x, rows, sized(state.hidden, floats), &layer.linear2);
  Keep keep;
  if (!state.activation_bits.empty())
    keep = {state.activation_bits.data(), scale_of(shape_.options.activation_dropout)};
  kernels_.gelu(state.hidden.data(), keeps_activations() ? sized(state.slope, floats) : nullptr, rows,
                shape_.ffn_stride, keep);
  multiply(layer.linear2, state.hidden.data(), rows, sized(branch_, rows * shape_.stride), next);
}

void Encoder::keep_layer(const std::vector<KeptLayer>& kept, int layer, const float* states) const {
  for (const KeptLayer& requested : kept) {
    if (requested.layer != layer) continue;
    for (std::size_t t = 0; t < pack().tokens; ++t)
      std::copy_n(states + t * shape_.stride, shape_.width, requested.states + t * shape_.width);
  }
}

void Encoder::forward(const EncoderWeights& weights, const PackInput& input, const std::vector<KeptLayer>& kept,
                      float* graph) {
  const TileScope tiles(shape_.precision == Precision::bf16);
  input_ = input;
  // The last layer needs the other tokens only as keys and values, because their outputs are not used.
  virtual_only_ = reads_virtual_node() && std::none_of(kept.begin(), kept.end(), [&](const KeptLayer& k) {
                    return k.layer < 0 || k.layer == static_cast<int>(layers_count_);
                  });
  const bool post_ln = shape_.options.post_ln;
  const std::size_t last = 2 * layers_count_;
  arrange_walks();
  load_terms(weights, 0, true);
  if (has_pair_states()) pair_states_.begin(weights, pack(), input_.walks, keeps_activations(), virtual_only_);
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
      attend(weights, k, half_input(s), state);
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
  if (reads_virtual_node())
    std::copy_n(virtual_only_ ? output : virtual_rows(output), pack().size() * shape_.stride, graph);
  else pool_atoms(output, graph);
}

bool Encoder::reads_virtual_node() const { return shape_.options.readout == Readout::virtual_node; }

// The sum or mean of the atoms' rows.
void Encoder::pool_atoms(const float* x, float* graph) const {
  const std::size_t stride = shape_.stride;
  std::fill_n(graph, pack().size() * stride, 0.0f);
  for (std::size_t b = 0; b < pack().size(); ++b, graph += stride) {
    const MoleculeRelations& of = pack().molecules[b];
    for (std::size_t i = 1; i < of.tokens; ++i)
      for (std::size_t c = 0; c < stride; ++c) graph[c] += x[(of.first_token + i) * stride + c];
    const auto share = readout_share<float>(shape_.options.readout == Readout::mean, of.atoms());
    for (std::size_t c = 0; c < stride; ++c) graph[c] *= share;
  }
}

// Number of rows of stage s: all tokens or, after the last layer's attention, possibly only the virtual nodes.
std::size_t Encoder::rows_of(std::size_t s) const { return is_virtual_only(s) ? pack().size() : pack().tokens; }
bool Encoder::is_virtual_only(std::size_t s) const { return virtual_only_ && s + 1 >= 2 * layers_count_; }

const float* Encoder::virtual_rows(const float* x) {
  float* rows = sized(virtual_, pack().size() * shape_.stride);
  for (std::size_t b = 0; b < pack().size(); ++b)
    std::copy_n(x + pack().molecules[b].first_token * shape_.stride, shape_.stride, rows + b * shape_.stride);
  return rows;
}

}  // namespace molgraph::cpu
