// Backward pass through the encoder's layers: from the output's gradient to those of parameters and node input.
#include <algorithm>
#include <cstring>

#include "attention/cpu/encoder.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {

// Expands a row per molecule to a row per token in place; zero except for virtual nodes.
void Encoder::spread_virtual_rows(float* x) const {
  const std::size_t stride = shape_.stride;
  for (std::size_t b = pack().size(); b-- > 0;) {  // from the end, because rows move only towards the end
    const MoleculeRelations& of = pack().molecules[b];
    std::memmove(x + of.first_token * stride, x + b * stride, stride * sizeof(float));
    std::fill_n(x + (of.first_token + 1) * stride, (of.tokens - 1) * stride, 0.0f);
  }
}

// Backward pass of pool_atoms(): expands a row per molecule to the rows of its tokens.
void Encoder::spread_to_atoms(const float* dgraph, float* dx) const {
  const std::size_t stride = shape_.stride;
  for (std::size_t b = 0; b < pack().size(); ++b, dgraph += stride) {
    const MoleculeRelations& of = pack().molecules[b];
    const auto share = readout_share<float>(shape_.options.readout == Readout::mean, of.atoms());
    std::fill_n(dx + of.first_token * stride, stride, 0.0f);
    for (std::size_t i = 1; i < of.tokens; ++i)
      for (std::size_t c = 0; c < stride; ++c) dx[(of.first_token + i) * stride + c] = share * dgraph[c];
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

// dx = dy W^T. Also adds the gradients of weight and bias, if they are needed.
void Encoder::linear_back(const PackedLinear& linear, const LinearOffsets& offsets, std::size_t rows, const float* x,
                          const float* dy, float* dx, float* flat) {
  if (!matrix_gradients_) {
    product(linear.backward, dy, rows, nullptr, dx);
    return;
  }
  const WeightGradient g{.a = x,
                         .a_stride = offsets.in_stride,
                         .rows = rows,
                         .depth = offsets.in,
                         .y = dy,
                         .y_stride = offsets.out_stride,
                         .columns = offsets.out_stride,
                         .weights = flat + offsets.weight,
                         .prefetch = {linear.backward.fp32.data(), linear.backward.fp32.size()}};
  if (linear.backward.bf16.empty()) kernels_.weight_gradient(g);
  else weight_gradient_bf16(g, sized(rounded_, weight_gradient_bf16_scratch(g)));
  kernels_.column_sums(dy, rows, offsets.out_stride, offsets.out_stride, flat + offsets.bias);
  product(linear.backward, dy, rows, nullptr, dx);
}

void Encoder::scale_by_degree_back(const float* scaler, std::size_t rows, const LayerState& state, float* dz,
                                   float* dscaler) const {
  const std::size_t stride = shape_.inner_stride;
  const float *a = scaler, *b = a + stride;
  float* __restrict da = dscaler, * __restrict db = dscaler + stride;  // two pointers, so that the loop is vectorised
  for (std::size_t i = 0; i < rows; ++i) {
    const float degree = log_degree_of(i, rows < pack().tokens);
    const float* z = state.z.data() + i * stride;
    float* __restrict row = dz + i * stride;
    for (std::size_t c = 0; c < stride; ++c) {
      const float flow = row[c] * z[c];
      da[c] += flow;
      db[c] += flow * degree;
      row[c] *= a[c] + b[c] * degree;
    }
  }
}

void Encoder::attend_back(const EncoderWeights& weights, std::size_t k, const float* dy, float* dx, float* flat) {
  const PackedLayer& layer = weights.layer(k);
  const LayerOffsets& offsets = weights.layout().layers[k];
  LayerState& state = state_of(k);
  const std::size_t tokens = pack().tokens, rows = rows_of(2 * k + 1);
  const bool virtual_only = rows < tokens;
  float* dz = sized(dhidden_, tokens * std::max(shape_.inner_stride, shape_.ffn_stride));
  const float* scaler = weights.at(offsets.degree_scaler);
  linear_back(layer.output, offsets.output, rows, scaler == nullptr ? state.z.data() : state.scaled.data(), dy, dz,
              flat);
  if (scaler != nullptr) scale_by_degree_back(scaler, rows, state, dz, flat + offsets.degree_scaler);
  float* dqkv = sized(dqkv_, tokens * layer.qkv.forward.columns);
  if (shape_.inner < shape_.inner_stride || virtual_only) std::fill_n(dqkv, tokens * layer.qkv.forward.columns, 0.0f);
  for (std::size_t b = 0; b < pack().size(); ++b) {
    const MoleculeRelations& of = pack().molecules[b];
    AttentionGradient d{.dz = dz + (virtual_only ? b : of.first_token) * shape_.inner_stride,
                        .dz_stride = shape_.inner_stride};
    terms_.fill(relations_of(weights.layout(), k), pack(), b, flat, d);
    d.dq = dqkv + of.first_token * layer.qkv.forward.columns;
    d.dk = d.dq + shape_.inner_stride;
    d.dv = d.dk + shape_.inner_stride;
    const Attention g = attention_of(b, state, virtual_only);
    if (has_pair_states()) pair_states_.step_back(weights, pack(), k, b, g, matrix_gradients_, flat, d);
    kernels_.attention_gradient(g, d);
    if (has_pair_states()) pair_states_.finish_back(pack(), b, terms_.dbias());
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
  const TileScope tiles(shape_.precision == Precision::bf16);
  const FlatLayout& layout = weights.layout();
  const EncoderOptions& o = shape_.options;
  matrix_gradients_ = gradient.matrices;
  const std::size_t floats = pack().tokens * shape_.stride, last = 2 * layers_count_;
  // `flow` is the gradient of the residual stream: of `sum` with pre-LN, of `normed` with post-LN.
  float *flow = sized(flow_, floats), *dy = sized(dy_, floats), *dbranch = sized(dbranch_, floats);
  if (reads_virtual_node()) {
    std::copy_n(dgraph, pack().size() * shape_.stride, flow);
    if (!virtual_only_) spread_virtual_rows(flow);
  } else {
    spread_to_atoms(dgraph, flow);
  }
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
      if (k + 1 < layers_count_) load_terms(weights, k, false);  // the terms of the last layer are still loaded
      attend_back(weights, k, branch_slope, dbranch, gradient.flat);
      finish_terms(weights, k, gradient);
    }
    if (rows < rows_of(s)) spread_virtual_rows(flow);
    if (o.post_ln) kernels_.add(dbranch, flow, rows_of(s) * shape_.stride);
    else norm_back(weights, s, dbranch, flow, true, gradient.flat);
  }
  if (has_pair_states() && matrix_gradients_) pair_states_.begin_back(weights, pack(), input_.walks, gradient.flat);
  return flow;
}

// Adds the terms' gradients to those of their tables: after every layer if layers have their own tables, else once at
// the end (layer 0).
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
