// The encoder stack on the device, forward and backward. As in the CPU engine (cpu/encoder.hpp), the stack has 2L
// half-layers, and stage s precedes half-layer s: `sum` is the residual stream, `normed` its LayerNorm.
#pragma once

#include <cmath>
#include <vector>

#include "attention/cuda/kernels/attention_gradient.cuh"
#include "attention/cuda/kernels/degree_scale.cuh"
#include "attention/cuda/norm_sums.cuh"
#include "attention/cuda/pair_terms.cuh"
#include "attention/cuda/products.cuh"
#include "attention/cuda/side_streams.hpp"
#include "attention/cuda/table_gradients.cuh"
#include "attention/cuda/token_rows.cuh"
#include "attention/spec/random.hpp"

namespace molgraph::cuda {

template <class E>
class Encoder {
 public:
  Encoder(const ModelPlan& plan, const Parameters& parameters, Precision precision, Stream stream)
      : plan_(plan), o_(plan.encoder), places_(parameters, plan.encoder), stream_(stream), multiply_(stream, precision),
        layers_(static_cast<std::size_t>(o_.layers)), grouped_(o_.width < Products<E>::kWide),
        fused_(Products<E>::has_whole_rows(o_.width)), states_(layers_), stages_(2 * layers_ + 1),
        flows_(grouped_ ? 2 * layers_ : 1), norm_sums_(stream), scale_sums_(stream), sides_(stream) {}

  /// Computes what depends on the weights alone: the bias by topology class.
  void derive(const Weights& w) {
    if (!o_.terms.bias && !o_.terms.global_bias) return;
    class_bias_.resize(places_.relations.size());
    for (std::size_t k = 0; k < class_bias_.size(); ++k) {
      const ClassBias task = class_bias(w, k);
      const int size = task.classes * task.heads;
      launch(stream_, class_bias_kernel, blocks_for(size, kTableThreads), kTableThreads, 0, task,
             class_bias_[k].sized(static_cast<std::size_t>(size)));
    }
  }
  /// Keeps `input` [rows, C] by reference until the next forward().
  void forward(const WeightView<E>& weights, const PassInput& pass, const float* input);
  /// Returns [rows, C]: 0 = node input, l = after block l, -1 = output. All except -1 require a pass with
  /// PassInput::keep.
  const float* states(int layer) const;
  /// `flow` [rows, C]: in: the output's gradient, out: the input's gradient.
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
  /// Factors of the gradients of a half-layer's weights.
  struct Flow {
    Array<E> dy, dhidden;
  };

  float scale() const { return score_scale<float>(o_.width / o_.heads, o_.score_terms); }
  int rows() const { return pass_.batch->rows; }
  std::size_t floats(int width) const { return static_cast<std::size_t>(rows()) * static_cast<std::size_t>(width); }
  E* z(std::size_t k) { return z_.data() + (pass_.keep ? k : 0) * floats(o_.width); }
  /// Input of the output product: z, or z scaled by degrees.
  E* attended(std::size_t k) {
    return o_.degree_scaler ? scaled_z_.data() + (pass_.keep ? k : 0) * floats(o_.width) : z(k);
  }
  DegreeScale<E> degree_scale_of(const WeightView<E>& w, std::size_t k) {
    return {.rows = rows(),
            .width = o_.width,
            .log_degree = pass_.tokens->log_degree.data(),
            .scale = w.at(places_.layers[k].scale),
            .by = w.at(places_.layers[k].degree_scale),
            .z = z(k),
            .scaled = attended(k)};
  }
  Flow& flow(std::size_t s) { return flows_[grouped_ ? s : 0]; }
  E* dqkv(std::size_t k) { return dqkv_.data() + (grouped_ ? k : 0) * floats(3 * o_.width); }
  LayerState& state(std::size_t k) { return states_[pass_.keep ? k : 0]; }
  Stage& stage(std::size_t s) { return stages_[s == 0 || pass_.keep ? s : 1 + s % 2]; }
  const Stage& stage(std::size_t s) const { return stages_[s == 0 || pass_.keep ? s : 1 + s % 2]; }
  NormPlace norm_place(std::size_t s) const;
  const float* carry(std::size_t s) const {
    return o_.post_ln ? (s == 0 ? input_ : stage(s).normed32.data()) : stage(s).sum.data();
  }
  Dropout dropout(std::size_t layer, RandomSite site, double p) const;
  const TokenPlace* tokens() const { return pass_.batch->token; }

  Product<E> product(const WeightView<E>& w, const LinearPlace& linear, const E* x) const {
    return {.a = x,
            .a_row = linear.in,
            .a_depth = 1,
            .b = w.rounded + linear.weight,
            .b_column = linear.in,
            .b_depth = 1,
            .rows = rows(),
            .columns = linear.out,
            .depth = linear.in,
            .bias = w.at(linear.bias),
            .token = tokens()};
  }
  Product<E> back(const WeightView<E>& w, const LinearPlace& linear, const E* dy) const {
    return {.a = dy,
            .a_row = linear.out,
            .a_depth = 1,
            .b = w.rounded + linear.weight,
            .b_column = 1,
            .b_depth = linear.in,
            .rows = rows(),
            .columns = linear.in,
            .depth = linear.out};
  }
  WeightGradients<E> weight_gradients(const WeightView<E>& w) const {
    return {.rows = rows(), .slices = w.slices, .slice_stride = w.size};
  }
  /// In narrow models, weight gradients wait until the end and are computed together, because single ones are too small
  /// for the device.
  void weight_gradient(const WeightView<E>& w, const LinearPlace& linear, const E* x, const E* dy) {
    waiting_.push_back({dy, x, w.gradient(linear.weight), w.gradient(linear.bias), linear.out, linear.in});
    if (grouped_) return;
    WeightGradients<E> one = weight_gradients(w);
    one.of[0] = waiting_.back();
    waiting_.clear();
    multiply_(one.at(0));
  }
  ResidualNorm<E> norm_of(const WeightView<E>& w, std::size_t s, const float* x, const float* branch,
                          const Dropout& dropout);
  /// Ends half-layer s: its last product is the branch, followed by the LayerNorm of the next half-layer.
  void end_half_layer(const WeightView<E>& w, std::size_t s, Product<E> branch);
  /// Also applies the dropout of half-layer `next` if the backward pass continues with it.
  NormGradient<E> norm_back(const WeightView<E>& w, std::size_t s, const float* dy, float* dx, bool accumulate,
                            std::size_t next);
  /// Backward pass at the beginning of half-layer s, whose input has the gradient `dinput`.
  void begin_half_layer_back(const WeightView<E>& w, std::size_t s, Product<E> dinput, float* flow_in);
  int norm_blocks() const { return fused_ ? static_cast<int>(blocks_for(rows(), kProductRows)) : norm_parts(rows()); }
  static constexpr std::size_t kNothing = ~std::size_t{0};
  Dropout residual_dropout(std::size_t s) const {
    return dropout(s / 2, s % 2 == 0 ? RandomSite::attention_residual : RandomSite::ffn_residual, o_.dropout);
  }
  /// Selects the element of layer k, or the one that all layers share.
  template <class T>
  static const T& of_layer(const std::vector<T>& all, std::size_t k) {
    return all[all.size() == 1 ? 0 : k];
  }
  TermTables term_tables(const WeightView<E>& w, std::size_t k) const;
  WalkTables walk_tables(const WeightView<E>& w, std::size_t k) const;
  ClassBias class_bias(const Weights& w, std::size_t k) const;
  Attention<E> attention_of(const WeightView<E>& w, std::size_t k, const BatchPlaces::Class& some);
  /// Calls work(class, stream, scratch) for the size classes of the batch, whose launches run at the same time.
  template <class Work>
  void for_each_class(const Work& work) {
    const std::vector<BatchPlaces::Class>& all = pass_.batch->classes;
    if (scratch_.size() < all.size()) scratch_.resize(all.size());
    sides_.run(all.size(), [&](std::size_t c, Stream stream) { work(all[c], stream, scratch_[c]); });
  }
  /// Returns the product that gives the input's gradient.
  Product<E> attend_back(const WeightView<E>& w, std::size_t k, const E* dy);
  /// Values per relation in a table, and where the attention's backward pass writes their gradients, [relations of the
  /// batch, values].
  int table_width(TermFills fills) const {
    return fills == TermFills::bias || fills == TermFills::gate ? o_.heads : o_.width;
  }
  float* table_slope(bool wanted, TermFills fills) {
    const auto floats = static_cast<std::size_t>(pass_.batch->relations) * static_cast<std::size_t>(table_width(fills));
    return wanted ? drows_[static_cast<std::size_t>(fills)].sized(floats) : nullptr;
  }
  /// Rows per molecule and step for the gradients of a walk table: [molecules K, C].
  std::int64_t walk_rows() const { return std::int64_t{pass_.batch->molecules} * o_.pair_vector().size(); }
  float* walk_slope(bool wanted, TermFills fills) {
    const auto floats = static_cast<std::size_t>(walk_rows()) * static_cast<std::size_t>(o_.width);
    return wanted ? dwalks_[static_cast<std::size_t>(fills)].sized(floats) : nullptr;
  }
  void finish_tables(const WeightView<E>& w, std::size_t k);

  const ModelPlan& plan_;
  const EncoderOptions& o_;
  EncoderPlaces places_;
  Stream stream_;
  Products<E> multiply_;
  std::size_t layers_;
  bool grouped_;  ///< weight gradients are computed together
  bool fused_;    ///< LayerNorms are part of the preceding products
  PassInput pass_;
  const float* input_ = nullptr;
  std::vector<LayerState> states_;
  std::vector<Stage> stages_;
  std::vector<Flow> flows_;
  std::vector<typename WeightGradients<E>::One> waiting_;
  NormSums norm_sums_, scale_sums_;
  std::vector<Array<float>> class_bias_;  ///< b[t] [T, H]: one for all layers, or one per layer; empty = none
  Array<float> branch_, dbranch_, dclass_bias_;
  SideStreams sides_;
  std::vector<Array<float>> scratch_;  ///< by size class
  Array<float> drows_[5], dwalks_[5];  ///< by TermFills
  Array<E> z_, scaled_z_, dz_, dqkv_;  ///< except dz: [layers, ...]
};

template <class E>
NormPlace Encoder<E>::norm_place(std::size_t s) const {
  if (o_.post_ln) {  // after every half-layer
    if (s == 0) return {};
    const LayerPlaces& layer = places_.layers[(s - 1) / 2];
    return s % 2 == 1 ? layer.attention_norm : layer.ffn_norm;
  }
  if (s == 2 * layers_) return places_.final_norm;
  return s % 2 == 0 ? places_.layers[s / 2].attention_norm : places_.layers[s / 2].ffn_norm;
}

template <class E>
Dropout Encoder<E>::dropout(std::size_t layer, RandomSite site, double p) const {
  return dropout_at(pass_.draws, static_cast<std::uint32_t>(layer), site, p);
}

template <class E>
ResidualNorm<E> Encoder<E>::norm_of(const WeightView<E>& w, std::size_t s, const float* x, const float* branch,
                                    const Dropout& dropout) {
  Stage& at = stage(s);
  const NormPlace place = norm_place(s);
  const bool wanted32 = o_.post_ln || s == 2 * layers_;
  return {.rows = rows(),
          .width = o_.width,
          .x = x,
          .branch = branch,
          .dropout = dropout,
          .token = tokens(),
          .weight = w.at(place.weight),
          .bias = w.at(place.bias),
          .sum = at.sum.sized(floats(o_.width)),
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
  TermTables tables;
  const auto rows_of = [&](TermFills fills) -> TableRows* {
    switch (fills) {
      case TermFills::query_rows: return &tables.query;
      case TermFills::key_rows: return &tables.key;
      case TermFills::value_rows: return &tables.value;
      default: return nullptr;
    }
  };
  for (const TablePlaces::One& one : of_layer(places_.relations, k).tables) {
    TableRows* rows = rows_of(one.table.fills);
    if (rows == nullptr) continue;  // the bias is computed in advance: class_bias_
    switch (one.table.row) {
      case RelationTable::Row::topology: rows->topology = w.at(one.offset); break;
      case RelationTable::Row::edge: rows->edge = w.at(one.offset); break;
      case RelationTable::Row::all: rows->all = w.at(one.offset); break;
      case RelationTable::Row::walk: break;  // walk_tables()
    }
  }
  if (!class_bias_.empty()) tables.bias = of_layer(class_bias_, k).data();
  for (const TablePlaces::One& one : of_layer(places_.gates, k).tables) tables.gate = w.at(one.offset);
  return tables;
}

template <class E>
WalkTables Encoder<E>::walk_tables(const WeightView<E>& w, std::size_t k) const {
  if (!has_walk_rows(o_.terms)) return {};
  const auto table = [&](TermFills fills) {
    const auto* place = of_layer(places_.relations, k).find(fills, RelationTable::Row::walk);
    return place == nullptr ? nullptr : w.at(place->offset);
  };
  return {.query = table(TermFills::query_rows),
          .key = table(TermFills::key_rows),
          .value = table(TermFills::value_rows),
          .steps = o_.pair_vector().size(),
          .probabilities = pass_.set->pair_walks()};
}

template <class E>
ClassBias Encoder<E>::class_bias(const Weights& w, std::size_t k) const {
  const TablePlaces& places = of_layer(places_.relations, k);
  const int topology = plan_.classes.topology.count();
  ClassBias task{.position_bias = w.at(places.position_bias),
                 .classes = topology,
                 .last_row = topology - 1,
                 .heads = o_.heads,
                 .width = o_.width / o_.heads,
                 .scale = scale()};
  if (const auto* own = places.find(TermFills::bias, RelationTable::Row::topology))
    task.table = w.at(own->offset), task.last_row = own->rows - 1;
  if (const auto* query = places.find(TermFills::query_rows, RelationTable::Row::topology))
    task.query = w.at(query->offset);
  return task;
}

template <class E>
Attention<E> Encoder<E>::attention_of(const WeightView<E>& w, std::size_t k, const BatchPlaces::Class& some) {
  const BatchPlaces& batch = *pass_.batch;
  const int width = o_.width / o_.heads;
  return {.molecules = batch.molecule,
          .chosen = batch.chosen + some.first,
          .count = some.count,
          .heads = o_.heads,
          .width = width,
          .max_tokens = some.max_tokens,
          .max_relations = some.max_relations,
          .scale = scale(),
          .key_by_row = o_.key_term == KeyTerm::row,
          .reversed = o_.key_term == KeyTerm::reverse,
          .gate_relu = o_.gate.relu,
          .qkv = state(k).qkv.data(),
          .relation = pass_.set->relation(),
          .classes = pass_.set->classes(),
          .forbidden = pass_.set->forbidden(),
          .tables = term_tables(w, k),
          .walks = walk_tables(w, k),
          .pair_bias = pass_.bias->values(k),
          .pair_gate = pass_.gate->values(k),
          .dropout = dropout(k, RandomSite::attention_weights, o_.attention_dropout),
          .z = z(k)};
}

template <class E>
void Encoder<E>::forward(const WeightView<E>& w, const PassInput& pass, const float* input) {
  pass_ = pass;
  input_ = input;
  const std::size_t last = 2 * layers_, wide = floats(o_.width);
  if (o_.post_ln) round_to(stream_, input, stage(0).normed.sized(wide), static_cast<std::int64_t>(wide));
  else residual_norm(stream_, norm_of(w, 0, input, nullptr, {}));
  const std::size_t kept = pass_.keep ? layers_ : 1,
                    tail = static_cast<std::size_t>(pass_.batch->last_rows) * static_cast<std::size_t>(o_.width);
  E* first_z = z_.sized(kept * wide);  // no kernel writes rows of no molecule
  clear_each(first_z + wide - tail, wide * sizeof(E), tail * sizeof(E), kept, stream_);
  if (o_.degree_scaler) (void)scaled_z_.sized(kept * wide);
  for (std::size_t s = 0; s < last; ++s) {
    const std::size_t k = s / 2;
    const LayerPlaces& layer = places_.layers[k];
    LayerState& at = state(k);
    if (s % 2 == 0) {
      Product<E> qkv = product(w, layer.qkv, stage(s).normed.data());
      qkv.y = at.qkv.sized(3 * wide);
      multiply_(qkv);
      for_each_class([&](const BatchPlaces::Class& some, Stream stream, Array<float>& scratch) {
        attention(stream, attention_of(w, k, some), scratch);
      });
      if (o_.degree_scaler) degree_scale(stream_, degree_scale_of(w, k));
      end_half_layer(w, s, product(w, layer.output, attended(k)));
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

}  // namespace molgraph::cuda
