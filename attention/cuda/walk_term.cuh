// Probabilities of random walks between two atoms, weighted per head (Ma et al. 2023, section 3.1).
#pragma once

#include "attention/cuda/kernels/walks.cuh"
#include "attention/cuda/pair_term_part.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

class WalkTerm : public PairTermPart {
 public:
  WalkTerm(const PairTerm& term, const ModelPlan& plan, const Parameters& parameters, Stream stream)
      : stream_(stream), heads_(plan.encoder.heads), steps_(term.size),
        weight_(parameters.offset(term.prefix + "weight")) {}

  void forward(const Weights& w, const PassInput& pass, bool add_to, float* values) override {
    task_ = {.molecules = pass.batch->molecule,
             .count = pass.batch->molecules,
             .heads = heads_,
             .steps = steps_,
             .walks = pass.set->pair_walks()};
    launch(stream_, walk_values_kernel, static_cast<unsigned>(task_.count), kTableThreads, 0, task_, w.at(weight_),
           add_to, values);
  }

  void backward(const Weights& w, const PassInput&, float* slope) override {
    launch(stream_, walk_gradient_kernel,
           dim3(static_cast<unsigned>(steps_), static_cast<unsigned>(w.slices), blocks_for(heads_, kWalkHeads)),
           kTableThreads, kTableThreads * sizeof(double), task_, slope, w.size, w.gradient(weight_));
  }

 private:
  Stream stream_;
  int heads_, steps_;
  std::int64_t weight_;
  WalkTask task_;
};

}  // namespace molgraph::cuda
