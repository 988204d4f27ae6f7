// The task head, and its way back (cf. cpu/head.hpp).
#pragma once

#include <string>
#include <vector>

#include "attention/cuda/norm_sums.cuh"
#include "attention/cuda/pass.hpp"
#include "attention/cuda/products.cuh"

namespace molgraph::cuda {

/// The task head on the virtual nodes' rows; its products are float32 always.
class Head {
 public:
  Head(const ModelPlan& plan, const Parameters& p, Stream stream) : width_(plan.encoder.width), stream_(stream) {
    const auto add = [&](const std::string& name, int out, bool gelu, bool norm) {
      Layer& layer = layers_.emplace_back();
      layer.linear = linear_place(p, "head." + name, width_, out);
      layer.gelu = gelu;
      if (norm) layer.norm = norm_place(p, "head.transform_norm");
    };
    for (int k = 0; k < plan.head.last_mlp; ++k) add("last_mlp." + std::to_string(k) + ".0", width_, true, false);
    if (plan.head.transform) add("transform", width_, true, true);
    add("linear", plan.outputs, false, false);
  }

  /// `states` [rows, C] -> [B, outputs] on the device.
  float* forward(const Weights& w, const BatchPlaces& batch, const float* states) {
    const auto count = static_cast<std::size_t>(batch.molecules);
    float* x = graph_.sized(count * static_cast<std::size_t>(width_));
    launch(stream_, virtual_rows_kernel, blocks_for(batch.molecules, kRowsPerBlock), kRowThreads, 0, batch.molecule,
           batch.molecules, width_, x, const_cast<float*>(states), false);
    for (Layer& layer : layers_) {
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
    }
    clear(dstates, static_cast<std::size_t>(batch.rows) * static_cast<std::size_t>(width_) * sizeof(float), stream_);
    launch(stream_, virtual_rows_kernel, blocks_for(batch.molecules, kRowsPerBlock), kRowThreads, 0, batch.molecule,
           batch.molecules, width_, const_cast<float*>(dy), dstates, true);
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

}  // namespace molgraph::cuda
