// The task head, forward and backward (compare cpu/head.hpp).
#pragma once

#include <string>
#include <vector>

#include "attention/cuda/kernels/head_input.cuh"
#include "attention/cuda/kernels/readout.cuh"
#include "attention/cuda/norm_sums.cuh"
#include "attention/cuda/pass.hpp"
#include "attention/cuda/products.cuh"

namespace molgraph::cuda {

/// The task head, applied to its readout of the tokens' rows. Its products are always float32.
class Head {
 public:
  Head(const ModelPlan& plan, const Parameters& p, Stream stream)
      : width_(plan.encoder.width), inputs_(plan.head.inputs), drop_(plan.encoder.dropout),
        readout_(plan.encoder.readout), stand_in_(p.offset("head.stand_in")), stream_(stream) {
    int in = width_;
    const auto add = [&](const std::string& name, int out, bool gelu, bool norm) {
      Layer& layer = layers_.emplace_back();
      layer.linear = linear_place(p, "head." + name, in, out);
      in = out;
      layer.gelu = gelu;
      if (norm) layer.norm = norm_place(p, "head.transform_norm");
    };
    for (int k = 0; k < plan.head.last_mlp; ++k) add("last_mlp." + std::to_string(k) + ".0", width_, true, false);
    if (plan.head.transform) add("transform", width_, true, true);
    if (inputs_ > 0) {
      in += inputs_;
      add("mix", plan.head.mixed, true, false);
      layers_.back().mixes = true;
    }
    add("linear", plan.outputs, false, false);
  }

  /// `states` [rows, C] -> [B, outputs] on the device. `set` and `draws` as in PassInput.
  float* forward(const Weights& w, const ResidentMolecules& set, const BatchPlaces& batch, const DrawKey* draws,
                 const float* states) {
    const auto count = static_cast<std::size_t>(batch.molecules);
    float* x = graph_.sized(count * static_cast<std::size_t>(width_));
    read_tokens(stream_, readout(batch, const_cast<float*>(states), x));
    for (Layer& layer : layers_) {
      if (layer.mixes) {
        input_ = {.molecule = batch.molecule,
                  .molecules = batch.molecules,
                  .width = width_,
                  .count = inputs_,
                  .inputs = set.inputs(),
                  .stand_in = w.at(stand_in_),
                  .dropout = dropout_at(draws, 0, RandomSite::head_input, drop_),
                  .graph = x,
                  .mixed = mixed_.sized(count * static_cast<std::size_t>(layer.linear.in))};
        launch(stream_, head_input_kernel, blocks_for(batch.molecules, kRowsPerBlock), kRowThreads, 0, input_);
        x = input_.mixed;
      }
      const std::size_t floats = count * static_cast<std::size_t>(layer.linear.out);
      layer.input = x;
      multiply(stream_, Precision::fp32,
               Product<float>{.a = x,
                              .a_row = layer.linear.in,
                              .b = w.at(layer.linear.weight),
                              .b_column = layer.linear.in,
                              .rows = batch.molecules,
                              .columns = layer.linear.out,
                              .depth = layer.linear.in,
                              .bias = w.at(layer.linear.bias),
                              .slope = layer.gelu ? layer.slope.sized(floats) : nullptr,
                              .y = layer.output.sized(floats)});
      x = layer.output.data();
      if (layer.norm.weight == kNone) continue;
      residual_norm(stream_, ResidualNorm<float>{.rows = batch.molecules,
                                                 .width = layer.linear.out,
                                                 .x = x,
                                                 .weight = w.at(layer.norm.weight),
                                                 .bias = w.at(layer.norm.bias),
                                                 .sum = layer.before_norm.sized(floats),
                                                 .statistics = layer.statistics.sized(count),
                                                 .normed32 = layer.normed.sized(floats)});
      x = layer.normed.data();
    }
    return x;
  }
  /// `dscaled` [B, outputs] -> `dstates` [rows, C], overwritten.
  void backward(const Weights& w, const BatchPlaces& batch, const float* dscaled, float* dstates) {
    const auto count = static_cast<std::size_t>(batch.molecules);
    const float* dy = dscaled;
    for (std::size_t k = layers_.size(); k-- > 0;) {
      Layer& layer = layers_[k];
      const auto floats = static_cast<std::int64_t>(count) * layer.linear.out;
      float* down = layer.down.sized(static_cast<std::size_t>(floats));
      if (layer.norm.weight != kNone) {
        norm_sums_.begin(1, norm_parts(batch.molecules), layer.linear.out);
        norm_gradient(
            stream_,
            NormGradient<float>{.rows = batch.molecules,
                                .width = layer.linear.out,
                                .sum = layer.before_norm.data(),
                                .dy = dy,
                                .weight = w.at(layer.norm.weight),
                                .statistics = layer.statistics.data(),
                                .dx = down,
                                .parts = norm_sums_.next(w.gradient(layer.norm.weight), w.gradient(layer.norm.bias))},
            norm_parts(batch.molecules));
        norm_sums_.run();
      } else {
        copy_on_device(down, dy, static_cast<std::size_t>(floats) * sizeof(float), stream_);
      }
      if (layer.gelu)
        launch(stream_, multiply_kernel, blocks_for(floats, kRowThreads), kRowThreads, 0, layer.slope.data(), down,
               floats);
      const LinearPlace& linear = layer.linear;
      float* dx = layer.dx.sized(count * static_cast<std::size_t>(linear.in));
      multiply<float>(stream_, Precision::fp32,
                      ProductGroup<float>{{Product<float>{.a = down,
                                                          .a_row = linear.out,
                                                          .b = w.at(linear.weight),
                                                          .b_column = 1,
                                                          .b_depth = linear.in,
                                                          .rows = batch.molecules,
                                                          .columns = linear.in,
                                                          .depth = linear.out,
                                                          .y = dx},
                                           Product<float>{.a = down,
                                                          .a_row = 1,
                                                          .a_depth = linear.out,
                                                          .b = layer.input,
                                                          .b_column = 1,
                                                          .b_depth = linear.in,
                                                          .rows = linear.out,
                                                          .columns = linear.in,
                                                          .depth = batch.molecules,
                                                          .y32 = w.gradient(linear.weight),
                                                          .row_sums = w.gradient(linear.bias)}}},
                      2);
      dy = dx;
      if (!layer.mixes) continue;
      HeadInput back = input_;
      back.mixed = dx;
      back.graph = dgraph_.sized(count * static_cast<std::size_t>(width_));
      back.dstand_in = w.gradient(stand_in_);
      launch(stream_, head_input_back_kernel, blocks_for(batch.molecules, kRowsPerBlock), kRowThreads, 0, back);
      launch(stream_, stand_in_gradient_kernel, blocks_for(inputs_, kRowsPerBlock), kRowThreads, 0, back);
      dy = back.graph;
    }
    read_tokens_back(stream_, readout(batch, dstates, const_cast<float*>(dy)));
  }

 private:
  TokenReadout readout(const BatchPlaces& batch, float* tokens, float* graph) const {
    return {.kind = readout_,
            .molecule = batch.molecule,
            .token = batch.token,
            .molecules = batch.molecules,
            .rows = batch.rows,
            .width = width_,
            .tokens = tokens,
            .graph = graph};
  }

  struct Layer {
    LinearPlace linear;
    bool gelu = false;
    bool mixes = false;  ///< also reads the molecule's inputs
    NormPlace norm;
    const float* input = nullptr;
    Array<float> output, slope, before_norm, normed, down, dx;
    Array<float2> statistics;
  };
  int width_, inputs_;  ///< C, D
  double drop_;
  Readout readout_;
  std::int64_t stand_in_;
  Stream stream_;
  std::vector<Layer> layers_;
  NormSums norm_sums_{stream_};
  HeadInput input_;  ///< of the last forward()
  Array<float> graph_, mixed_, dgraph_;
};

}  // namespace molgraph::cuda
