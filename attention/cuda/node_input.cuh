// Input of the encoder, and its backward pass into the tables (compare cpu/node_input.hpp).
#pragma once

#include "attention/cuda/kernels/node_input.cuh"
#include "attention/cuda/norm_sums.cuh"
#include "attention/cuda/products.cuh"
#include "attention/cuda/table_gradients.cuh"
#include "attention/cuda/token_rows.cuh"

namespace molgraph::cuda {

/// The sum of embeddings, noise, positions and perturbation, followed by LayerNorm and dropout.
class NodeInput {
 public:
  NodeInput(const ModelPlan& plan, const Parameters& p, Stream stream)
      : plan_(plan), stream_(stream), atom_(p.offset("node.atom")), virtual_(p.offset("node.virtual_node")),
        in_(p.offset("in_degree")), out_(p.offset("out_degree")), position_(p.offset("encoder.position.weight")),
        norm_(norm_place(p, "encoder.input_norm")) {}

  const float* forward(const Weights& w, const PassInput& pass, const float* perturbation) {
    const EncoderOptions& o = plan_.encoder;
    const int count = pass.batch->rows;
    const auto floats = static_cast<std::size_t>(count) * static_cast<std::size_t>(o.width);
    launch(stream_, node_input_kernel, static_cast<unsigned>(count), kTableThreads, 0,
           NodeInputTask{.rows = count,
                         .width = o.width,
                         .columns = feature_shape(plan_.features).atom_columns,
                         .position_dim = position_ == kNone ? 0 : o.pair_vector().size(),
                         .token = pass.batch->token,
                         .ids = pass.tokens->ids.data(),
                         .degree_ids = pass.tokens->degree_ids.data(),
                         .atom = w.at(atom_),
                         .virtual_node = w.at(virtual_),
                         .in_degree = w.at(in_),
                         .out_degree = w.at(out_),
                         .positions = pass.tokens->positions.data(),
                         .position_weight = w.at(position_),
                         .key = pass.draws,
                         .noise = plan_.perturb_noise,
                         .perturbation = perturbation,
                         .x = x_.sized(floats)});
    float* x = x_.data();
    if (norm_.weight != kNone) {
      x = normed_.sized(floats);
      residual_norm(stream_, ResidualNorm<float>{.rows = count,
                                                 .width = o.width,
                                                 .x = x_.data(),
                                                 .weight = w.at(norm_.weight),
                                                 .bias = w.at(norm_.bias),
                                                 .sum = before_norm_.sized(floats),
                                                 .statistics = statistics_.sized(static_cast<std::size_t>(count)),
                                                 .normed32 = x});
    }
    dropout_ = dropout_at(pass.draws, 0, RandomSite::input_dropout, o.input_dropout);
    drop_in_place(x, count, pass);
    return x;
  }

  /// `dx` [rows, C]: in: the output's gradient, out: the gradient of the sum of embeddings and perturbation.
  void backward(const Weights& w, const PassInput& pass, float* dx) {
    const EncoderOptions& o = plan_.encoder;
    const int count = pass.batch->rows;
    drop_in_place(dx, count, pass);
    if (norm_.weight != kNone) {
      norm_sums_.begin(1, norm_parts(count), o.width);
      norm_gradient(stream_,
                    NormGradient<float>{.rows = count,
                                        .width = o.width,
                                        .sum = before_norm_.data(),
                                        .dy = dx,
                                        .weight = w.at(norm_.weight),
                                        .statistics = statistics_.data(),
                                        .dx = dx,
                                        .parts = norm_sums_.next(w.gradient(norm_.weight), w.gradient(norm_.bias))},
                    norm_parts(count));
      norm_sums_.run();
    }
    const FeatureShape& features = feature_shape(plan_.features);
    TableGradients tables(stream_);
    std::int64_t start = 0;
    for (int k = 0; k < features.atom_columns;
         ++k) {  // ids count over all columns: each column uses its own part of the table
      const int values = features.atom_dims[static_cast<std::size_t>(k)];
      tables.add({.from = dx,
                  .entries = count,
                  .width = o.width,
                  .rows = values,
                  .slices = w.slices,
                  .slice_stride = w.size,
                  .out = w.gradient(atom_) + start * o.width,
                  .ids = pass.tokens->ids.data() + static_cast<std::int64_t>(k) * count,
                  .first_row = static_cast<int>(start)});
      start += values;
    }
    if (in_ != kNone)
      for (const std::int64_t to : {in_, out_})
        tables.add(sum_by_id(w, dx, count, o.width, pass.tokens->degree_ids.data(), plan_.max_degree + 1, to));
    tables.run();
    float* graph = graph_.sized(static_cast<std::size_t>(pass.batch->molecules) * static_cast<std::size_t>(o.width));
    launch(stream_, virtual_rows_kernel, blocks_for(pass.batch->molecules, kRowsPerBlock), kRowThreads, 0,
           pass.batch->molecule, pass.batch->molecules, o.width, graph, dx, false);
    multiply(stream_, Precision::fp32,  // sum over the virtual nodes as a product's row sums
             Product<float>{.a = graph,
                            .a_row = 1,
                            .a_depth = o.width,
                            .b = graph,
                            .b_column = 1,
                            .b_depth = o.width,
                            .rows = o.width,
                            .columns = 1,
                            .depth = pass.batch->molecules,
                            .row_sums = w.gradient(virtual_)});
    if (position_ != kNone)
      multiply(stream_, Precision::fp32,
               Product<float>{.a = dx,
                              .a_row = 1,
                              .a_depth = o.width,
                              .b = pass.tokens->positions.data(),
                              .b_column = 1,
                              .b_depth = o.pair_vector().size(),
                              .rows = o.width,
                              .columns = o.pair_vector().size(),
                              .depth = count,
                              .slices = w.slices,
                              .slice_stride = w.size,
                              .y32 = w.gradient(position_)});
  }

 private:
  void drop_in_place(float* x, int count, const PassInput& pass) const {
    if (dropout_.threshold == 0) return;
    drop(stream_, Drop<float>{.x = x,
                              .out = x,
                              .rows = count,
                              .width = plan_.encoder.width,
                              .dropout = dropout_,
                              .token = pass.batch->token});
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

}  // namespace molgraph::cuda
