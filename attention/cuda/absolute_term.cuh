// P_Q(i).P_K(j) of the tokens' absolute positions (Chen et al. 2021, eq. 1).
#pragma once

#include <string>

#include "attention/cuda/kernels/absolute.cuh"
#include "attention/cuda/pair_term_part.hpp"
#include "attention/cuda/products.cuh"
#include "attention/cuda/table_gradients.cuh"
#include "attention/cuda/token_rows.cuh"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

class AbsoluteTerm : public PairTermPart {
 public:
  AbsoluteTerm(const PairTerm& term, const ModelPlan& plan, const Parameters& parameters, Stream stream)
      : stream_(stream), heads_(plan.encoder.heads), steps_(term.size) {
    static constexpr const char* kSides[] = {"query", "key"};
    for (int side = 0; side < 2; ++side) {
      rows_[side] = parameters.offset(term.prefix + kSides[side] + "_row");
      walk_[side] = parameters.offset(term.prefix + kSides[side] + "_walk");
    }
  }

  void forward(const Weights& w, const PassInput& pass, bool add_to, float* values) override {
    task_ = {.molecules = pass.batch->molecule,
             .token = pass.batch->token,
             .tokens = pass.batch->rows,
             .heads = heads_,
             .rank = kAbsoluteRank,
             .steps = steps_,
             .ids = pass.tokens->absolute_ids.data(),
             .walks = pass.tokens->walks.data()};
    for (int side = 0; side < 2; ++side)
      launch(stream_, absolute_factors_kernel, static_cast<unsigned>(task_.tokens), kTableThreads, 0, task_,
             w.at(rows_[side]), w.at(walk_[side]), factor_[side].sized(floats()));
    launch(stream_, absolute_bias_kernel, static_cast<unsigned>(pass.batch->molecules), kTableThreads, 0, task_,
           factor_[0].data(), factor_[1].data(), add_to, values);
  }

  void backward(const Weights& w, const PassInput&, float* slope) override {
    float* dfactor[2] = {dfactor_[0].sized(floats()), dfactor_[1].sized(floats())};
    launch(stream_, absolute_gradient_kernel, static_cast<unsigned>(task_.tokens), kTableThreads, 0, task_, slope,
           factor_[0].data(), factor_[1].data(), dfactor[0], dfactor[1]);
    TableGradients tables(stream_);
    for (int side = 0; side < 2; ++side) {
      tables.add(sum_by_id(w, dfactor[side], task_.tokens, width(), task_.ids, kAbsoluteRows, rows_[side]));
      multiply(stream_, Precision::fp32,
               Product<float>{.a = task_.walks,
                              .a_row = 1,
                              .a_depth = steps_,
                              .b = dfactor[side],
                              .b_column = 1,
                              .b_depth = width(),
                              .rows = steps_,
                              .columns = width(),
                              .depth = task_.tokens,
                              .slices = w.slices,
                              .slice_stride = w.size,
                              .y32 = w.gradient(walk_[side])});
    }
    tables.run();
  }

 private:
  int width() const { return heads_ * kAbsoluteRank; }
  std::size_t floats() const { return static_cast<std::size_t>(task_.tokens) * static_cast<std::size_t>(width()); }

  Stream stream_;
  int heads_, steps_;
  std::int64_t rows_[2], walk_[2];  ///< for query, for key
  AbsoluteTask task_;
  Array<float> factor_[2], dfactor_[2];
};

}  // namespace molgraph::cuda
