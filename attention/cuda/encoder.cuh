// The encoder stack on the device: all layers forward, all layers back. As in the CPU engine (cpu/encoder.hpp), the stack has 2L
// half-layers, and stage s stands before half-layer s: `sum` is the residual stream, `normed` its LayerNorm.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/cuda/kernels/attention_gradient.cuh"
#include "attention/cuda/molecules.hpp"
#include "attention/cuda/parameters.hpp"
#include "attention/cuda/kernels/product.cuh"
#include "attention/cuda/kernels/rows.cuh"
#include "attention/cuda/kernels/tables.cuh"
#include "attention/spec/random.hpp"

namespace molgraph::MOLGRAPH_CUDA {

/// The parameters as a pass reads them, and where it leaves their gradients: `slices` partial sums that are added at the end.
template <class E>
struct WeightView {
  const float* weights = nullptr;     ///< [P]
  const E* rounded = nullptr;         ///< [P] the same for the products
  float* partial = nullptr;           ///< [slices, P]
  int slices = 1;
  std::int64_t size = 0;              ///< P
  const float* at(std::int64_t offset) const { return offset == kNone ? nullptr : weights + offset; }
  float* gradient(std::int64_t offset) const { return partial + offset; }
};

/// What goes through the stack beside the node input, and the gradients of it.
struct PairTerms {
  std::vector<const float*> bias, gate;         ///< one for all layers or one per layer; empty = none
  std::vector<float*> dbias, dgate;
  std::vector<const float*> spatial;            ///< b[t] of the shared tables or of each layer; null = none
  static float* of_layer(const std::vector<float*>& all, std::size_t k) { return all.empty() ? nullptr : all[all.size() == 1 ? 0 : k]; }
  static const float* of_layer(const std::vector<const float*>& all, std::size_t k) {
    return all.empty() ? nullptr : all[all.size() == 1 ? 0 : k];
  }
};

/// A pass over one batch.
struct PassInput {
  const ResidentMolecules* set = nullptr;
  const BatchPlaces* batch = nullptr;
  const std::uint32_t* classes = nullptr;       ///< [relations of the batch]
  const DrawKey* draws = nullptr;               ///< null: no random numbers
  bool keep = false;                            ///< for backward()
  PairTerms terms;
};

template <class E>
class Encoder {
 public:
  Encoder(const ModelPlan& plan, const Parameters& parameters, Math math, Stream stream)
      : plan_(plan), o_(plan.encoder), places_(parameters, plan.encoder), stream_(stream), multiply_(stream, math),
        layers_(static_cast<std::size_t>(o_.layers)), grouped_(o_.width < Products<E>::kWide),
        fused_(Products<E>::has_whole_rows(o_.width)), states_(layers_), stages_(2 * layers_ + 1),
        flows_(grouped_ ? 2 * layers_ : 1), norm_sums_(stream) {}

  /// b[t] of layer k's tables, or of those of all: [T, H].
  void make_spatial(const WeightView<E>& w, std::size_t k, float* out) const {
    const SpatialTable table = spatial_table(w, k);
    launch(stream_, spatial_kernel, blocks_for(table.classes * table.heads, kTableThreads), kTableThreads, 0, table, out);
  }
  /// `input` [rows, C] is kept by reference until the next forward().
  void forward(const WeightView<E>& weights, const PassInput& pass, const float* input);
  /// [rows, C] 0 = node input, l = after block l, -1 = output. Only of a pass that keeps, but for -1.
  const float* states(int layer) const;
  /// `flow` [rows, C]: the output's gradient, becomes the input's.
  void backward(const WeightView<E>& weights, float* flow);

 private:
  struct Stage {
    Array<float> sum, normed32;
    Array<E> normed;
    Array<float2> statistics;
  };
  struct LayerState {
    Array<E> qkv, hidden, slope;
  };
  /// What the gradients of a half-layer's weights are made of.
  struct Flow {
    Array<E> dy, dhidden;
  };

  float scale() const { return 1.0f / std::sqrt(static_cast<float>(o_.width / o_.heads) * static_cast<float>(o_.score_terms)); }
  int rows() const { return pass_.batch->rows; }
  std::size_t floats(int width) const { return static_cast<std::size_t>(rows()) * static_cast<std::size_t>(width); }
  E* z(std::size_t k) { return z_.data() + (pass_.keep ? k : 0) * floats(o_.width); }
  Flow& flow(std::size_t s) { return flows_[grouped_ ? s : 0]; }
  E* dqkv(std::size_t k) { return dqkv_.data() + (grouped_ ? k : 0) * floats(3 * o_.width); }
  LayerState& state(std::size_t k) { return states_[pass_.keep ? k : 0]; }
  Stage& stage(std::size_t s) { return stages_[s == 0 || pass_.keep ? s : 1 + s % 2]; }
  const Stage& stage(std::size_t s) const { return stages_[s == 0 || pass_.keep ? s : 1 + s % 2]; }
  NormPlace norm_place(std::size_t s) const;
  const float* carry(std::size_t s) const { return o_.post_ln ? (s == 0 ? input_ : stage(s).normed32.data()) : stage(s).sum.data(); }
  Dropout dropout(std::size_t layer, RandomSite site, double p) const;
  const TokenPlace* tokens() const { return pass_.batch->token; }

  Product<E> product(const WeightView<E>& w, const LinearPlace& linear, const E* x) const {
    return {.a = x, .a_row = linear.in, .a_depth = 1, .b = w.rounded + linear.weight, .b_column = linear.in, .b_depth = 1,
            .rows = rows(), .columns = linear.out, .depth = linear.in, .bias = w.at(linear.bias), .token = tokens()};
  }
  Product<E> back(const WeightView<E>& w, const LinearPlace& linear, const E* dy) const {
    return {.a = dy, .a_row = linear.out, .a_depth = 1, .b = w.rounded + linear.weight, .b_column = 1, .b_depth = linear.in,
            .rows = rows(), .columns = linear.in, .depth = linear.out};
  }
  WeightGradients<E> weight_gradients(const WeightView<E>& w) const { return {.rows = rows(), .slices = w.slices, .slice_stride = w.size}; }
  /// A narrow model's wait until the end, to be computed together: alone they are too small for the device.
  void weight_gradient(const WeightView<E>& w, const LinearPlace& linear, const E* x, const E* dy) {
    waiting_.push_back({dy, x, w.gradient(linear.weight), w.gradient(linear.bias), linear.out, linear.in});
    if (grouped_) return;
    WeightGradients<E> one = weight_gradients(w);
    one.of[0] = waiting_.back();
    waiting_.clear();
    multiply_(one.at(0));
  }
  ResidualNorm<E> norm_of(const WeightView<E>& w, std::size_t s, const float* x, const float* branch, const Dropout& dropout);
  /// Half-layer s ends: its last product is the branch, and the LayerNorm of the next one follows.
  void end_half_layer(const WeightView<E>& w, std::size_t s, Product<E> branch);
  /// Then, if half-layer `next` is to come on the way back, its dropout.
  NormGradient<E> norm_back(const WeightView<E>& w, std::size_t s, const float* dy, float* dx, bool accumulate, std::size_t next);
  /// Back at the beginning of half-layer s, whose input has the gradient `dinput`.
  void begin_half_layer_back(const WeightView<E>& w, std::size_t s, Product<E> dinput, float* flow_in);
  int norm_blocks() const { return fused_ ? static_cast<int>(blocks_for(rows(), kProductRows)) : norm_parts(rows()); }
  static constexpr std::size_t kNothing = ~std::size_t{0};
  Dropout residual_dropout(std::size_t s) const {
    return dropout(s / 2, s % 2 == 0 ? RandomSite::attention_residual : RandomSite::ffn_residual, o_.dropout);
  }
  TermTables term_tables(const WeightView<E>& w, std::size_t k) const;
  SpatialTable spatial_table(const WeightView<E>& w, std::size_t k) const;
  Attention<E> attention_of(const WeightView<E>& w, std::size_t k, const BatchPlaces::Class& some);
  /// Returns the product that is the input's gradient.
  Product<E> attend_back(const WeightView<E>& w, std::size_t k, const E* dy);
  void finish_tables(const WeightView<E>& w, std::size_t k);

  const ModelPlan& plan_;
  const EncoderOptions& o_;
  EncoderPlaces places_;
  Stream stream_;
  Products<E> multiply_;
  std::size_t layers_;
  bool grouped_;   ///< the weights' gradients
  bool fused_;     ///< LayerNorms, with the products before them
  PassInput pass_;
  const float* input_ = nullptr;
  std::vector<LayerState> states_;
  std::vector<Stage> stages_;
  std::vector<Flow> flows_;
  std::vector<typename WeightGradients<E>::One> waiting_;
  NormSums norm_sums_;
  Array<float> branch_, dbranch_, scratch_, drow_query_, drow_key_, drow_value_, drow_bias_, drow_gate_, dspatial_;
  Array<E> z_, dz_, dqkv_;   ///< z and dqkv: [layers, ...]
};

template <class E>
NormPlace Encoder<E>::norm_place(std::size_t s) const {
  if (o_.post_ln) {   // behind every half-layer
    if (s == 0) return {};
    const LayerPlaces& layer = places_.layers[(s - 1) / 2];
    return s % 2 == 1 ? layer.attention_norm : layer.ffn_norm;
  }
  if (s == 2 * layers_) return places_.final_norm;
  return s % 2 == 0 ? places_.layers[s / 2].attention_norm : places_.layers[s / 2].ffn_norm;
}

template <class E>
Dropout Encoder<E>::dropout(std::size_t layer, RandomSite site, double p) const {
  if (pass_.draws == nullptr) return {};
  const std::uint32_t threshold = dropout_threshold(p);
  return {threshold, static_cast<std::uint32_t>(16 * layer) + static_cast<std::uint32_t>(site),
          static_cast<float>(dropout_scale(threshold)), pass_.draws};
}

template <class E>
ResidualNorm<E> Encoder<E>::norm_of(const WeightView<E>& w, std::size_t s, const float* x, const float* branch, const Dropout& dropout) {
  Stage& at = stage(s);
  const NormPlace place = norm_place(s);
  const bool wanted32 = o_.post_ln || s == 2 * layers_;
  return {.rows = rows(), .width = o_.width, .x = x, .branch = branch, .dropout = dropout, .token = tokens(),
          .weight = w.at(place.weight), .bias = w.at(place.bias), .sum = at.sum.sized(floats(o_.width)),
          .statistics = at.statistics.sized(static_cast<std::size_t>(rows())),
          .normed = s == 2 * layers_ ? nullptr : at.normed.sized(floats(o_.width)),
          .normed32 = wanted32 ? at.normed32.sized(floats(o_.width)) : nullptr};
}

template <class E>
void Encoder<E>::end_half_layer(const WeightView<E>& w, std::size_t s, Product<E> branch) {
  if (fused_) {
    branch.norm = norm_of(w, s + 1, carry(s), nullptr, residual_dropout(s));
    return multiply_(branch);
  }
  branch.y32 = branch_.sized(floats(o_.width));
  multiply_(branch);
  residual_norm(stream_, norm_of(w, s + 1, carry(s), branch.y32, residual_dropout(s)));
}

template <class E>
TermTables Encoder<E>::term_tables(const WeightView<E>& w, std::size_t k) const {
  const TablePlaces& t = o_.share_encodings ? places_.shared : places_.layers[k].own;
  const TablePlaces& gate = o_.gate.per_layer ? places_.layers[k].own : places_.shared;
  return {w.at(t.topology_query), w.at(t.topology_key), w.at(t.topology_value), w.at(t.edge_query), w.at(t.edge_key), w.at(t.edge_value),
          w.at(t.content_bias), PairTerms::of_layer(pass_.terms.spatial, k), w.at(gate.gate)};
}

template <class E>
SpatialTable Encoder<E>::spatial_table(const WeightView<E>& w, std::size_t k) const {
  const TablePlaces& t = o_.share_encodings ? places_.shared : places_.layers[k].own;
  const int topology = plan_.classes.topology.count();
  return {.spatial = o_.terms.bias ? w.at(t.spatial) : nullptr, .position_bias = w.at(t.position_bias), .query = w.at(t.topology_query),
          .classes = topology, .last_row = o_.untie_virtual ? topology - 1 : topology - 3, .heads = o_.heads,
          .width = o_.width / o_.heads, .scale = scale()};
}

template <class E>
Attention<E> Encoder<E>::attention_of(const WeightView<E>& w, std::size_t k, const BatchPlaces::Class& some) {
  const BatchPlaces& batch = *pass_.batch;
  const int width = o_.width / o_.heads;
  return {.molecules = batch.molecule, .chosen = batch.chosen + some.first, .count = some.count, .heads = o_.heads, .width = width,
          .max_tokens = some.max_tokens, .max_relations = some.max_relations,
          .scale = scale(),
          .key_by_row = o_.key_term == KeyTerm::row, .reversed = o_.key_term == KeyTerm::reverse, .gate_relu = o_.gate.relu,
          .qkv = state(k).qkv.data(), .relation = pass_.set->relation(), .classes = pass_.set->classes(),
          .forbidden = pass_.set->forbidden(), .tables = term_tables(w, k), .pair_bias = PairTerms::of_layer(pass_.terms.bias, k),
          .pair_gate = PairTerms::of_layer(pass_.terms.gate, k),
          .dropout = dropout(k, RandomSite::attention_weights, o_.attention_dropout), .z = z(k)};
}

template <class E>
void Encoder<E>::forward(const WeightView<E>& w, const PassInput& pass, const float* input) {
  pass_ = pass;
  input_ = input;
  const std::size_t last = 2 * layers_, wide = floats(o_.width);
  if (o_.post_ln) round_to(stream_, input, stage(0).normed.sized(wide), static_cast<std::int64_t>(wide));
  else residual_norm(stream_, norm_of(w, 0, input, nullptr, {}));
  const std::size_t kept = pass_.keep ? layers_ : 1, unsure = static_cast<std::size_t>(pass_.batch->last_rows) * static_cast<std::size_t>(o_.width);
  E* first_z = z_.sized(kept * wide);   // rows of no molecule are written by nobody
  clear_each(first_z + wide - unsure, wide * sizeof(E), unsure * sizeof(E), kept, stream_);
  for (std::size_t s = 0; s < last; ++s) {
    const std::size_t k = s / 2;
    const LayerPlaces& layer = places_.layers[k];
    LayerState& at = state(k);
    if (s % 2 == 0) {
      Product<E> qkv = product(w, layer.qkv, stage(s).normed.data());
      qkv.y = at.qkv.sized(3 * wide);
      multiply_(qkv);
      for (const BatchPlaces::Class& some : pass_.batch->classes) attention(stream_, attention_of(w, k, some), scratch_);
      end_half_layer(w, s, product(w, layer.output, z(k)));
    } else {
      Product<E> up = product(w, layer.linear1, stage(s).normed.data());
      up.y = at.hidden.sized(floats(o_.ffn));
      up.gelu = true;
      up.slope = pass_.keep ? at.slope.sized(floats(o_.ffn)) : nullptr;
      up.dropout = dropout(k, RandomSite::ffn_activation, o_.activation_dropout);
      multiply_(up);
      end_half_layer(w, s, product(w, layer.linear2, at.hidden.data()));
    }
  }
}

template <class E>
const float* Encoder<E>::states(int layer) const {
  const std::size_t last = 2 * layers_;
  if (layer == 0) return input_;
  if (layer > 0) return carry(2 * static_cast<std::size_t>(layer));
  return norm_place(last).weight != kNone ? stage(last).normed32.data() : stage(last).sum.data();
}

template <class E>
NormGradient<E> Encoder<E>::norm_back(const WeightView<E>& w, std::size_t s, const float* dy, float* dx, bool accumulate, std::size_t next) {
  const NormPlace place = norm_place(s);
  NormGradient<E> p{.rows = rows(), .width = o_.width, .sum = stage(s).sum.data(), .dy = dy, .weight = w.at(place.weight),
                    .statistics = stage(s).statistics.data(), .dx = dx, .accumulate = accumulate,
                    .parts = norm_sums_.next(w.gradient(place.weight), w.gradient(place.bias)), .token = tokens()};
  if (next != kNothing) p.dropped = flow(next).dy.sized(floats(o_.width)), p.dropout = residual_dropout(next);
  return p;
}

template <class E>
void Encoder<E>::begin_half_layer_back(const WeightView<E>& w, std::size_t s, Product<E> dinput, float* flow_in) {
  const std::size_t next = s > 0 ? s - 1 : kNothing;
  if (fused_ && !o_.post_ln) {
    dinput.norm_gradient = norm_back(w, s, nullptr, flow_in, true, next);
    return multiply_(dinput);
  }
  dinput.y32 = dbranch_.sized(floats(o_.width));
  multiply_(dinput);
  if (!o_.post_ln) return norm_gradient(stream_, norm_back(w, s, dinput.y32, flow_in, true, next), norm_blocks());
  add(stream_, dinput.y32, flow_in, static_cast<std::int64_t>(floats(o_.width)));
  if (s > 0) norm_gradient(stream_, norm_back(w, s, flow_in, flow_in, false, next), norm_blocks());
}

template <class E>
Product<E> Encoder<E>::attend_back(const WeightView<E>& w, std::size_t k, const E* dy) {
  const LayerPlaces& layer = places_.layers[k];
  Product<E> down = back(w, layer.output, dy);
  down.y = dz_.sized(floats(o_.width));
  multiply_(down);
  const bool first_of_all = k + 1 == layers_;
  const TermTables tables = term_tables(w, k);
  const auto relations = static_cast<std::size_t>(pass_.batch->relations);
  const auto rows_of = [&](bool wanted, Array<float>& array, int width) {
    return wanted ? array.sized(relations * static_cast<std::size_t>(width)) : nullptr;
  };
  AttentionGradient<E> g{.dz = down.y, .dqkv = dqkv(k),
                         .dquery_rows = rows_of(tables.query(), drow_query_, o_.width),
                         .dkey_rows = rows_of(tables.key(), drow_key_, o_.width),
                         .dvalue_rows = rows_of(tables.value(), drow_value_, o_.width),
                         .dbias_rows = rows_of(tables.spatial != nullptr, drow_bias_, o_.heads),
                         .dgate_rows = rows_of(tables.gate != nullptr, drow_gate_, o_.heads),
                         .dpair_bias = PairTerms::of_layer(pass_.terms.dbias, k),
                         .dpair_gate = PairTerms::of_layer(pass_.terms.dgate, k),
                         .first = first_of_all || !o_.share_encodings,
                         .first_gate = first_of_all || o_.gate.per_layer,
                         .first_pair = first_of_all || pass_.terms.dbias.size() > 1};
  for (const BatchPlaces::Class& some : pass_.batch->classes) attention_gradient(stream_, attention_of(w, k, some), g, scratch_);
  weight_gradient(w, layer.output, z(k), dy);
  weight_gradient(w, layer.qkv, stage(2 * k).normed.data(), dqkv(k));
  finish_tables(w, k);
  return back(w, layer.qkv, dqkv(k));
}

// Takes the sums by relation to the tables: after every layer if the layers have their own, else after the first layer.
template <class E>
void Encoder<E>::finish_tables(const WeightView<E>& w, std::size_t k) {
  const int topology = plan_.classes.topology.count(), edge = plan_.classes.edge.count();
  using By = TableGradient::By;
  TableGradients tables(stream_);
  const auto sum = [&](const Array<float>& from, int width, std::int64_t to, int rows, By by) {
    if (to == kNone) return;
    tables.add({.from = from.data(), .entries = pass_.batch->relations, .width = width, .rows = rows, .slices = w.slices,
                .slice_stride = w.size, .out = w.gradient(to), .classes = pass_.classes, .by = by, .last_row = rows - 1});
  };
  if (!o_.share_encodings || k == 0) {
    const TablePlaces& t = o_.share_encodings ? places_.shared : places_.layers[k].own;
    sum(drow_query_, o_.width, t.topology_query, topology, By::topology);
    sum(drow_query_, o_.width, t.edge_query, edge, By::edge);
    sum(drow_key_, o_.width, t.topology_key, topology, By::topology);
    sum(drow_key_, o_.width, t.edge_key, edge, By::edge);
    sum(drow_key_, o_.width, t.content_bias, 1, By::none);
    sum(drow_value_, o_.width, t.topology_value, topology, By::topology);
    sum(drow_value_, o_.width, t.edge_value, edge, By::edge);
    if (o_.terms.bias) sum(drow_bias_, o_.heads, t.spatial, o_.untie_virtual ? topology : topology - 2, By::topology);
    if (t.position_bias != kNone) {
      const auto size = static_cast<std::size_t>(w.slices) * static_cast<std::size_t>(topology * o_.heads);
      clear(dspatial_.sized(size), size * sizeof(float), stream_);
      tables.add({.from = drow_bias_.data(), .entries = pass_.batch->relations, .width = o_.heads, .rows = topology,
                  .slices = w.slices, .slice_stride = topology * o_.heads, .out = dspatial_.data(), .classes = pass_.classes});
      tables.run();
      launch(stream_, position_bias_gradient_kernel, blocks_for(o_.width, kTableThreads), kTableThreads, 0,
             spatial_table(w, k), dspatial_.data(), w.slices, w.gradient(t.position_bias), w.gradient(t.topology_query));
    }
  }
  if (o_.gate.enabled && (o_.gate.per_layer || k == 0))
    sum(drow_gate_, o_.heads, (o_.gate.per_layer ? places_.layers[k].own : places_.shared).gate, topology, By::topology);
  tables.run();
}

template <class E>
void Encoder<E>::backward(const WeightView<E>& w, float* flow_in) {
  const std::size_t last = 2 * layers_, wide = floats(o_.width);
  // `flow_in` is the gradient of what is carried along: of `sum` with pre-LN, of `normed` with post-LN.
  norm_sums_.begin(last + 1, norm_blocks(), o_.width);
  const std::size_t copies = grouped_ ? layers_ : 1, size = floats(3 * o_.width);
  const std::size_t unsure = static_cast<std::size_t>(pass_.batch->last_rows) * static_cast<std::size_t>(3 * o_.width);
  E* first_dqkv = dqkv_.sized(copies * size);   // rows of no molecule stay zero
  clear_each(first_dqkv + size - unsure, size * sizeof(E), unsure * sizeof(E), copies, stream_);
  if (o_.post_ln || places_.final_norm.weight != kNone)
    norm_gradient(stream_, norm_back(w, last, flow_in, flow_in, false, last - 1), norm_blocks());
  else
    drop(stream_, Drop<E>{.x = flow_in, .out = flow(last - 1).dy.sized(wide), .rows = rows(), .width = o_.width,
                          .dropout = residual_dropout(last - 1), .token = tokens()});
  for (std::size_t s = last; s-- > 0;) {
    const std::size_t k = s / 2;
    const LayerPlaces& layer = places_.layers[k];
    const E* dy = flow(s).dy.data();
    if (s % 2 == 0) {
      begin_half_layer_back(w, s, attend_back(w, k, dy), flow_in);
    } else {
      Product<E> down = back(w, layer.linear2, dy);
      down.y = flow(s).dhidden.sized(floats(o_.ffn));
      down.factor = state(k).slope.data();
      multiply_(down);
      weight_gradient(w, layer.linear2, state(k).hidden.data(), dy);
      weight_gradient(w, layer.linear1, stage(s).normed.data(), down.y);
      begin_half_layer_back(w, s, back(w, layer.linear1, down.y), flow_in);
    }
  }
  if (grouped_) multiply_(weight_gradients(w), waiting_);
  waiting_.clear();
  norm_sums_.run();
}

}  // namespace molgraph::MOLGRAPH_CUDA
