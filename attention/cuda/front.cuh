// What stands in front of the encoder and behind it, on the device: node input, per-pair terms that no table holds (paths, places),
// task head. The CPU engine's node_input, path, absolute and head say the same for one molecule at a time.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "attention/cuda/encoder.cuh"
#include "attention/cuda/kernels/paths.cuh"
#include "attention/spec/node_positions.hpp"

namespace molgraph::MOLGRAPH_CUDA {

__global__ void __launch_bounds__(kRowThreads) multiply_kernel(const float* factor, float* x, std::int64_t count) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (at < count) x[at] *= factor[at];
}

/// Ids of the batch's tokens in tables, from which node input and places are made.
class TokenRows {
 public:
  TokenRows(const ModelPlan& plan, Stream stream) : plan_(plan), stream_(stream) {}
  void make(const ResidentMolecules& set, const BatchPlaces& batch, const DrawKey* draws) {
    const FeatureShape& features = feature_shape(plan_.features);
    TokenTables t{.rows = batch.rows, .columns = features.atom_columns, .molecules = batch.molecule, .token = batch.token,
                  .atoms = set.atoms(), .degree = set.degree()};
    for (int k = 0, start = 0; k < features.atom_columns; start += features.atom_dims[static_cast<std::size_t>(k++)]) t.column_start[k] = start;
    const auto rows = static_cast<std::size_t>(batch.rows);
    t.ids = ids.sized(rows * static_cast<std::size_t>(features.atom_columns));
    if (plan_.max_degree >= 0) t.degree_ids = degree_ids.sized(rows), t.last_degree = plan_.max_degree;
    if (plan_.encoder.position != NodePosition::none) {
      t.position_dim = plan_.encoder.position_dim;
      t.atom_positions = set.positions();
      t.positions = positions.sized(rows * static_cast<std::size_t>(t.position_dim));
      if (plan_.encoder.position == NodePosition::laplacian) t.signs = draws;
    }
    launch(stream_, token_tables_kernel, blocks_for(batch.rows, kTableThreads), kTableThreads, 0, t);
    if (!plan_.encoder.terms.absolute_bias) return;
    TokenTables w{.rows = batch.rows, .last_absolute = kAbsoluteLastDegree, .position_dim = plan_.encoder.position_dim, .molecules = t.molecules,
                  .token = t.token, .atoms = t.atoms, .degree = t.degree, .atom_positions = set.walks()};
    w.absolute_ids = absolute_ids.sized(rows);
    w.positions = walks.sized(rows * static_cast<std::size_t>(w.position_dim));
    launch(stream_, token_tables_kernel, blocks_for(batch.rows, kTableThreads), kTableThreads, 0, w);
  }
  Array<std::int32_t> ids, degree_ids, absolute_ids;
  Array<float> positions, walks;

 private:
  const ModelPlan& plan_;
  Stream stream_;
};

/// Sums of `from` [rows, width] by id into a table's gradient.
template <class E>
TableGradient sum_by_id(const WeightView<E>& w, const float* from, std::int64_t entries, int width, const std::int32_t* ids, int rows,
                        std::int64_t to) {
  return {.from = from, .entries = entries, .width = width, .rows = rows, .slices = w.slices, .slice_stride = w.size, .out = w.gradient(to),
          .ids = ids};
}

template <class E>
class NodeFront {
 public:
  NodeFront(const ModelPlan& plan, const Parameters& p, Stream stream)
      : plan_(plan), stream_(stream), atom_(p.offset("node.atom")), virtual_(p.offset("node.virtual_node")), in_(p.offset("in_degree")),
        out_(p.offset("out_degree")), position_(p.offset("encoder.position.weight")),
        norm_{p.offset("encoder.input_norm.weight"), p.offset("encoder.input_norm.bias")} {}

  const float* forward(const WeightView<E>& w, const PassInput& pass, const TokenRows& rows, const float* perturbation) {
    const EncoderOptions& o = plan_.encoder;
    const int count = pass.batch->rows;
    const auto floats = static_cast<std::size_t>(count) * static_cast<std::size_t>(o.width);
    launch(stream_, node_input_kernel, static_cast<unsigned>(count), kTableThreads, 0,
           NodeInput{.rows = count, .width = o.width, .columns = feature_shape(plan_.features).atom_columns,
                     .position_dim = position_ == kNone ? 0 : o.position_dim, .token = pass.batch->token, .ids = rows.ids.data(),
                     .degree_ids = rows.degree_ids.data(), .atom = w.at(atom_), .virtual_node = w.at(virtual_), .in_degree = w.at(in_),
                     .out_degree = w.at(out_), .positions = rows.positions.data(), .position_weight = w.at(position_), .key = pass.draws,
                     .noise = static_cast<float>(plan_.perturb_noise), .perturbation = perturbation, .x = x_.sized(floats)});
    float* x = x_.data();
    if (norm_.weight != kNone) {
      x = normed_.sized(floats);
      residual_norm(stream_, ResidualNorm<float>{.rows = count, .width = o.width, .x = x_.data(), .weight = w.at(norm_.weight),
                                                 .bias = w.at(norm_.bias), .sum = before_norm_.sized(floats),
                                                 .statistics = statistics_.sized(static_cast<std::size_t>(count)), .normed32 = x});
    }
    dropout_ = {};
    if (pass.draws != nullptr) {
      const std::uint32_t threshold = dropout_threshold(o.input_dropout);
      dropout_ = {threshold, static_cast<std::uint32_t>(RandomSite::input_dropout), static_cast<float>(dropout_scale(threshold)), pass.draws};
    }
    drop_in_place(x, count, pass);
    return x;
  }

  /// `dx` [rows, C] becomes the gradient of the sum of embeddings and perturbation.
  void backward(const WeightView<E>& w, const PassInput& pass, const TokenRows& rows, float* dx) {
    const EncoderOptions& o = plan_.encoder;
    const int count = pass.batch->rows;
    drop_in_place(dx, count, pass);
    if (norm_.weight != kNone) {
      norm_sums_.begin(1, norm_parts(count), o.width);
      norm_gradient(stream_, NormGradient<float>{.rows = count, .width = o.width, .sum = before_norm_.data(), .dy = dx, .weight = w.at(norm_.weight),
                                                 .statistics = statistics_.data(), .dx = dx,
                                                 .parts = norm_sums_.next(w.gradient(norm_.weight), w.gradient(norm_.bias))}, norm_parts(count));
      norm_sums_.run();
    }
    const FeatureShape& features = feature_shape(plan_.features);
    TableGradients tables(stream_);
    std::int64_t start = 0;
    for (int k = 0; k < features.atom_columns; ++k) {   // ids count over all columns: each takes its own part of the table
      const int values = features.atom_dims[static_cast<std::size_t>(k)];
      tables.add({.from = dx, .entries = count, .width = o.width, .rows = values, .slices = w.slices, .slice_stride = w.size,
                  .out = w.gradient(atom_) + start * o.width, .ids = rows.ids.data() + static_cast<std::int64_t>(k) * count,
                  .first_row = static_cast<int>(start)});
      start += values;
    }
    if (in_ != kNone)
      for (const std::int64_t to : {in_, out_}) tables.add(sum_by_id(w, dx, count, o.width, rows.degree_ids.data(), plan_.max_degree + 1, to));
    tables.run();
    float* graph = graph_.sized(static_cast<std::size_t>(pass.batch->molecules) * static_cast<std::size_t>(o.width));
    launch(stream_, virtual_rows_kernel, blocks_for(pass.batch->molecules, kRowsPerBlock), kRowThreads, 0, pass.batch->molecule,
           pass.batch->molecules, o.width, graph, dx, false);
    multiply(stream_, Math::fp32,   // the sum over the virtual nodes, as a product's row sums
             Product<float>{.a = graph, .a_row = 1, .a_depth = o.width, .b = graph, .b_column = 1, .b_depth = o.width, .rows = o.width,
                            .columns = 1, .depth = pass.batch->molecules, .row_sums = w.gradient(virtual_)});
    if (position_ != kNone)
      multiply(stream_, Math::fp32,
               Product<float>{.a = dx, .a_row = 1, .a_depth = o.width, .b = rows.positions.data(), .b_column = 1, .b_depth = o.position_dim,
                              .rows = o.width, .columns = o.position_dim, .depth = count, .slices = w.slices, .slice_stride = w.size,
                              .y32 = w.gradient(position_)});
  }

 private:
  void drop_in_place(float* x, int count, const PassInput& pass) const {
    if (dropout_.threshold == 0) return;
    drop(stream_, Drop<float>{.x = x, .out = x, .rows = count, .width = plan_.encoder.width, .dropout = dropout_, .token = pass.batch->token});
  }

  const ModelPlan& plan_;
  Stream stream_;
  std::int64_t atom_, virtual_, in_, out_, position_;
  NormPlace norm_;
  Dropout dropout_;
  NormSums norm_sums_{stream_};
  Array<float> x_, before_norm_, normed_, graph_;
  Array<float2> statistics_;
};

/// One edge-path term: its table, and its values per pair.
template <class E>
class PathFront {
 public:
  PathFront(const ModelPlan& plan, const Parameters& p, const std::string& prefix, int hops, const Array<std::int32_t>& bond_rows, Stream stream)
      : plan_(plan), stream_(stream), bond_rows_(bond_rows), bond_(p.offset(prefix + "bond")), weight_(p.offset(prefix + "hop_weight")), hops_(hops) {}

  void make_table(const WeightView<E>& w) {
    const FeatureShape& f = feature_shape(plan_.features);
    const int size = hops_ * f.bond_ids * plan_.encoder.heads;
    launch(stream_, path_table_kernel, blocks_for(size, kPathThreads), kPathThreads, 0, w.at(bond_), w.at(weight_), bond_rows_.data(),
           f.bond_columns, hops_, f.bond_ids, plan_.encoder.heads, table_.sized(static_cast<std::size_t>(size)));
  }
  const float* forward(const PassInput& pass) {
    const auto pairs = static_cast<std::size_t>(pass.batch->pairs);
    term_ = {.molecules = pass.batch->molecule, .count = pass.batch->molecules, .heads = plan_.encoder.heads, .hops = hops_,
             .bond_ids = feature_shape(plan_.features).bond_ids, .single = plan_.pack.path_rule == PathRule::single,
             .graph = pass.set->bonds(), .table = table_.data(), .number = number_.sized(pairs),
             .values = values_.sized(pairs * static_cast<std::size_t>(plan_.encoder.heads))};
    launch(stream_, path_values_kernel, static_cast<unsigned>(term_.count), kPathThreads, 0, term_);
    return term_.values;
  }
  /// `slope` is used up.
  void backward(const WeightView<E>& w, float* slope) {
    constexpr int kParts = 64;
    const FeatureShape& f = feature_shape(plan_.features);
    const int heads = plan_.encoder.heads, size = hops_ * f.bond_ids * heads, parts = term_.count < kParts ? term_.count : kParts;
    const int bond_rows = std::accumulate(f.bond_dims.begin(), f.bond_dims.end(), 0);
    launch(stream_, path_gradient_kernel, static_cast<unsigned>(parts), kPathThreads, 0, term_, slope,
           parts_.sized(static_cast<std::size_t>(parts) * static_cast<std::size_t>(size)));
    const PathFactors factors{.parts = parts_.data(), .bond = w.at(bond_), .hop_weight = w.at(weight_), .rows = bond_rows_.data(),
                              .part_count = parts, .rows_per_id = f.bond_columns, .hops = hops_, .bond_ids = f.bond_ids, .heads = heads,
                              .bond_rows = bond_rows, .table = dtable_.sized(static_cast<std::size_t>(size)), .dbond = w.gradient(bond_),
                              .dhop_weight = w.gradient(weight_)};
    launch(stream_, path_parts_kernel, blocks_for(size, kPathThreads), kPathThreads, 0, factors);
    launch(stream_, path_factors_kernel, blocks_for(hops_ * heads * heads + bond_rows * heads, kPathThreads), kPathThreads, 0, factors);
  }

 private:
  const ModelPlan& plan_;
  Stream stream_;
  const Array<std::int32_t>& bond_rows_;
  std::int64_t bond_, weight_;
  int hops_;
  PathTerm term_;
  Array<float> table_, values_, number_, parts_, dtable_;
};

/// P_Q(i).P_K(j), added to a bias.
template <class E>
class AbsoluteFront {
 public:
  AbsoluteFront(const ModelPlan& plan, const Parameters& p, const std::string& prefix, Stream stream) : plan_(plan), stream_(stream) {
    static constexpr const char* kSides[] = {"query", "key"};
    for (int side = 0; side < 2; ++side) {
      rows_[side] = p.offset(prefix + kSides[side] + "_row");
      walk_[side] = p.offset(prefix + kSides[side] + "_walk");
    }
  }
  void forward(const WeightView<E>& w, const PassInput& pass, const TokenRows& tokens, bool add, float* bias) {
    const EncoderOptions& o = plan_.encoder;
    term_ = {.molecules = pass.batch->molecule, .token = pass.batch->token, .tokens = static_cast<int>(tokens_of(pass)),
             .heads = o.heads, .rank = kAbsoluteRank, .steps = o.position_dim, .ids = tokens.absolute_ids.data(), .walks = tokens.walks.data()};
    const auto floats = tokens_of(pass) * static_cast<std::size_t>(width());
    for (int side = 0; side < 2; ++side)
      launch(stream_, absolute_factors_kernel, static_cast<unsigned>(term_.tokens), kTableThreads, 0, term_, w.at(rows_[side]), w.at(walk_[side]),
             factor_[side].sized(floats));
    launch(stream_, absolute_bias_kernel, static_cast<unsigned>(pass.batch->molecules), kTableThreads, 0, term_, factor_[0].data(),
           factor_[1].data(), add, bias);
  }
  void backward(const WeightView<E>& w, const float* slope) {
    const auto floats = static_cast<std::size_t>(term_.tokens) * static_cast<std::size_t>(width());
    float* dfactor[2] = {dfactor_[0].sized(floats), dfactor_[1].sized(floats)};
    launch(stream_, absolute_gradient_kernel, static_cast<unsigned>(term_.tokens), kTableThreads, 0, term_, slope, factor_[0].data(),
           factor_[1].data(), dfactor[0], dfactor[1]);
    TableGradients tables(stream_);
    for (int side = 0; side < 2; ++side) {
      tables.add(sum_by_id(w, dfactor[side], term_.tokens, width(), term_.ids, kAbsoluteRows, rows_[side]));
      multiply(stream_, Math::fp32,
               Product<float>{.a = term_.walks, .a_row = 1, .a_depth = term_.steps, .b = dfactor[side], .b_column = 1, .b_depth = width(),
                              .rows = term_.steps, .columns = width(), .depth = term_.tokens, .slices = w.slices, .slice_stride = w.size,
                              .y32 = w.gradient(walk_[side])});
    }
    tables.run();
  }

 private:
  int width() const { return plan_.encoder.heads * kAbsoluteRank; }
  static std::size_t tokens_of(const PassInput& pass) { return static_cast<std::size_t>(pass.batch->rows); }
  const ModelPlan& plan_;
  Stream stream_;
  std::int64_t rows_[2], walk_[2];
  AbsoluteTerm term_;
  Array<float> factor_[2], dfactor_[2];
};

/// The task head on the virtual nodes' rows; its products are float32 always.
template <class E>
class HeadBack {
 public:
  HeadBack(const ModelPlan& plan, const Parameters& p, Stream stream) : width_(plan.encoder.width), stream_(stream) {
    const auto add = [&](const std::string& name, int out, bool gelu, bool norm) {
      Layer& layer = layers_.emplace_back();
      layer.linear = {p.offset("head." + name + ".weight"), p.offset("head." + name + ".bias"), width_, out};
      layer.gelu = gelu;
      if (norm) layer.norm = {p.offset("head.transform_norm.weight"), p.offset("head.transform_norm.bias")};
    };
    for (int k = 0; k < plan.head.last_mlp; ++k) add("last_mlp." + std::to_string(k) + ".0", width_, true, false);
    if (plan.head.transform) add("transform", width_, true, true);
    add("linear", plan.outputs, false, false);
  }

  /// `states` [rows, C] -> [B, outputs] on the device.
  float* forward(const WeightView<E>& w, const BatchPlaces& batch, const float* states) {
    const auto count = static_cast<std::size_t>(batch.molecules);
    float* x = graph_.sized(count * static_cast<std::size_t>(width_));
    launch(stream_, virtual_rows_kernel, blocks_for(batch.molecules, kRowsPerBlock), kRowThreads, 0, batch.molecule, batch.molecules,
           width_, x, const_cast<float*>(states), false);
    for (Layer& layer : layers_) {
      const std::size_t floats = count * static_cast<std::size_t>(layer.linear.out);
      layer.input = x;
      multiply(stream_, Math::fp32,
               Product<float>{.a = x, .a_row = layer.linear.in, .b = w.at(layer.linear.weight), .b_column = layer.linear.in,
                              .rows = batch.molecules, .columns = layer.linear.out, .depth = layer.linear.in, .bias = w.at(layer.linear.bias),
                              .slope = layer.gelu ? layer.slope.sized(floats) : nullptr, .y = layer.output.sized(floats)});
      x = layer.output.data();
      if (layer.norm.weight == kNone) continue;
      residual_norm(stream_, ResidualNorm<float>{.rows = batch.molecules, .width = layer.linear.out, .x = x, .weight = w.at(layer.norm.weight),
                                                 .bias = w.at(layer.norm.bias), .sum = layer.before_norm.sized(floats),
                                                 .statistics = layer.statistics.sized(count), .normed32 = layer.normed.sized(floats)});
      x = layer.normed.data();
    }
    return x;
  }
  /// `dscaled` [B, outputs] -> `dstates` [rows, C], overwritten.
  void backward(const WeightView<E>& w, const BatchPlaces& batch, const float* dscaled, float* dstates) {
    const auto count = static_cast<std::size_t>(batch.molecules);
    const float* dy = dscaled;
    for (std::size_t k = layers_.size(); k-- > 0;) {
      Layer& layer = layers_[k];
      const auto floats = static_cast<std::int64_t>(count) * layer.linear.out;
      float* down = layer.down.sized(static_cast<std::size_t>(floats));
      if (layer.norm.weight != kNone) {
        norm_sums_.begin(1, norm_parts(batch.molecules), layer.linear.out);
        norm_gradient(stream_, NormGradient<float>{.rows = batch.molecules, .width = layer.linear.out, .sum = layer.before_norm.data(), .dy = dy,
                                                   .weight = w.at(layer.norm.weight), .statistics = layer.statistics.data(), .dx = down,
                                                   .parts = norm_sums_.next(w.gradient(layer.norm.weight), w.gradient(layer.norm.bias))},
                      norm_parts(batch.molecules));
        norm_sums_.run();
      } else {
        copy_on_device(down, dy, static_cast<std::size_t>(floats) * sizeof(float), stream_);
      }
      if (layer.gelu)
        launch(stream_, multiply_kernel, blocks_for(floats, kRowThreads), kRowThreads, 0, layer.slope.data(), down, floats);
      const LinearPlace& linear = layer.linear;
      float* dx = layer.dx.sized(count * static_cast<std::size_t>(linear.in));
      multiply<float>(stream_, Math::fp32,
               ProductGroup<float>{{Product<float>{.a = down, .a_row = linear.out, .b = w.at(linear.weight), .b_column = 1, .b_depth = linear.in,
                                                   .rows = batch.molecules, .columns = linear.in, .depth = linear.out, .y = dx},
                                    Product<float>{.a = down, .a_row = 1, .a_depth = linear.out, .b = layer.input, .b_column = 1,
                                                   .b_depth = linear.in, .rows = linear.out, .columns = linear.in, .depth = batch.molecules,
                                                   .y32 = w.gradient(linear.weight), .row_sums = w.gradient(linear.bias)}}}, 2);
      dy = dx;
    }
    clear(dstates, static_cast<std::size_t>(batch.rows) * static_cast<std::size_t>(width_) * sizeof(float), stream_);
    launch(stream_, virtual_rows_kernel, blocks_for(batch.molecules, kRowsPerBlock), kRowThreads, 0, batch.molecule, batch.molecules,
           width_, const_cast<float*>(dy), dstates, true);
  }

 private:
  struct Layer {
    LinearPlace linear;
    bool gelu = false;
    NormPlace norm;
    const float* input = nullptr;
    Array<float> output, slope, before_norm, normed, down, dx;
    Array<float2> statistics;
  };
  int width_;
  Stream stream_;
  std::vector<Layer> layers_;
  NormSums norm_sums_{stream_};
  Array<float> graph_;
};

}  // namespace molgraph::MOLGRAPH_CUDA
