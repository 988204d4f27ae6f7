// The backward pass through the encoder's layers (encoder.cuh): from the output's gradient to those of the parameters
// and the node input.
#pragma once

#include "attention/cuda/encoder.cuh"

namespace molgraph::cuda {

template <class E>
NormGradient<E> Encoder<E>::norm_back(const WeightView<E>& w, std::size_t s, const float* dy, float* dx,
                                      bool accumulate, std::size_t next) {
  const NormPlace place = norm_place(s);
  NormGradient<E> p{.rows = rows(),
                    .width = o_.width,
                    .sum = stage(s).sum.data(),
                    .dy = dy,
                    .weight = w.at(place.weight),
                    .statistics = stage(s).statistics.data(),
                    .dx = dx,
                    .accumulate = accumulate,
                    .parts = norm_sums_.next(w.gradient(place.weight), w.gradient(place.bias)),
                    .token = tokens()};
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
  if (o_.degree_scaler) {
    DegreeScale<E> task = degree_scale_of(w, k);
    task.scaled = down.y;
    task.parts = scale_sums_.next(w.gradient(layer.scale), w.gradient(layer.degree_scale));
    degree_scale_gradient(stream_, task, norm_parts(rows()));
  }
  const bool first_of_all = k + 1 == layers_;
  const TermTables tables = term_tables(w, k);
  const WalkTables walks = walk_tables(w, k);
  AttentionGradient<E> g{.dz = down.y,
                         .dqkv = dqkv(k),
                         .dquery_rows = table_slope(tables.query.any(), TermFills::query_rows),
                         .dkey_rows = table_slope(tables.key.any(), TermFills::key_rows),
                         .dvalue_rows = table_slope(tables.value.any(), TermFills::value_rows),
                         .dwalk_query = walk_slope(walks.query != nullptr, TermFills::query_rows),
                         .dwalk_key = walk_slope(walks.key != nullptr, TermFills::key_rows),
                         .dwalk_value = walk_slope(walks.value != nullptr, TermFills::value_rows),
                         .dbias_rows = table_slope(tables.bias != nullptr, TermFills::bias),
                         .dgate_rows = table_slope(tables.gate != nullptr, TermFills::gate),
                         .dpair_bias = pass_.bias->gradient(k),
                         .dpair_gate = pass_.gate->gradient(k),
                         .first = first_of_all || !o_.share_encodings,
                         .first_gate = first_of_all || o_.gate.per_layer,
                         .first_pair = first_of_all || pass_.bias->per_layer()};
  for_each_class([&](const BatchPlaces::Class& some, Stream stream, Array<float>& scratch) {
    attention_gradient(stream, attention_of(w, k, some), g, scratch);
  });
  weight_gradient(w, layer.output, attended(k), dy);
  weight_gradient(w, layer.qkv, stage(2 * k).normed.data(), dqkv(k));
  finish_tables(w, k);
  return back(w, layer.qkv, dqkv(k));
}

// Adds the sums by relation to the tables: after every layer if layers have their own tables, otherwise after the first
// layer.
template <class E>
void Encoder<E>::finish_tables(const WeightView<E>& w, std::size_t k) {
  TableGradients tables(stream_);
  const auto add_up = [&](const TablePlaces& places) {
    for (const TablePlaces::One& one : places.tables) {
      const bool walk = one.table.row == RelationTable::Row::walk;
      tables.add({.from = (walk ? dwalks_ : drows_)[static_cast<std::size_t>(one.table.fills)].data(),
                  .entries = walk ? walk_rows() : pass_.batch->relations,
                  .width = table_width(one.table.fills),
                  .rows = one.rows,
                  .slices = w.slices,
                  .slice_stride = w.size,
                  .out = w.gradient(one.offset),
                  .classes = pass_.classes,
                  .by = one.table.row,
                  .last_row = one.rows - 1});
    }
  };
  if (!o_.share_encodings || k == 0) {
    const TablePlaces& places = of_layer(places_.relations, k);
    add_up(places);
    if (places.position_bias != kNone) {
      const ClassBias task = class_bias(w, k);
      const int size = task.classes * task.heads;
      const auto floats = static_cast<std::size_t>(w.slices) * static_cast<std::size_t>(size);
      clear(dclass_bias_.sized(floats), floats * sizeof(float), stream_);
      tables.add({.from = drows_[static_cast<std::size_t>(TermFills::bias)].data(),
                  .entries = pass_.batch->relations,
                  .width = task.heads,
                  .rows = task.classes,
                  .slices = w.slices,
                  .slice_stride = size,
                  .out = dclass_bias_.data(),
                  .classes = pass_.classes});
      tables.run();
      launch(stream_, position_bias_gradient_kernel, blocks_for(o_.width, kTableThreads), kTableThreads, 0, task,
             dclass_bias_.data(), w.slices, w.gradient(places.position_bias),
             w.gradient(places.find(TermFills::query_rows, RelationTable::Row::topology)->offset));
    }
  }
  if (o_.gate.per_layer || k == 0) add_up(of_layer(places_.gates, k));
  tables.run();
}

template <class E>
void Encoder<E>::backward(const WeightView<E>& w, float* flow_in) {
  const std::size_t last = 2 * layers_, wide = floats(o_.width);
  // `flow_in` is the gradient of the residual stream: of `sum` with pre-LN, of `normed` with post-LN.
  norm_sums_.begin(last + 1, norm_blocks(), o_.width);
  if (o_.degree_scaler) scale_sums_.begin(layers_, norm_parts(rows()), o_.width);
  const std::size_t copies = grouped_ ? layers_ : 1, size = floats(3 * o_.width);
  const std::size_t tail = static_cast<std::size_t>(pass_.batch->last_rows) * static_cast<std::size_t>(3 * o_.width);
  E* first_dqkv = dqkv_.sized(copies * size);  // rows of no molecule stay zero
  clear_each(first_dqkv + size - tail, size * sizeof(E), tail * sizeof(E), copies, stream_);
  if (o_.post_ln || places_.final_norm.weight != kNone)
    norm_gradient(stream_, norm_back(w, last, flow_in, flow_in, false, last - 1), norm_blocks());
  else
    drop(stream_, Drop<E>{.x = flow_in,
                          .out = flow(last - 1).dy.sized(wide),
                          .rows = rows(),
                          .width = o_.width,
                          .dropout = residual_dropout(last - 1),
                          .token = tokens()});
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
  scale_sums_.run();
}

}  // namespace molgraph::cuda
