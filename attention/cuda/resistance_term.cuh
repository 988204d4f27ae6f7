// Gaussians of the resistance distance (Zhang et al. 2023, section 4).
#pragma once

#include "attention/cuda/kernels/resistance.cuh"
#include "attention/cuda/pair_term_part.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

class ResistanceTerm : public PairTermPart {
 public:
  ResistanceTerm(const PairTerm& term, const ModelPlan& plan, const Parameters& parameters, Stream stream)
      : stream_(stream), heads_(plan.encoder.heads), kernels_(term.size),
        mean_(parameters.offset(term.prefix + "mean")), width_(parameters.offset(term.prefix + "width")),
        weight_(parameters.offset(term.prefix + "weight")) {}

  void forward(const Weights& w, const PassInput& pass, bool add_to, float* values) override {
    task_ = {.molecules = pass.batch->molecule,
             .count = pass.batch->molecules,
             .heads = heads_,
             .kernels = kernels_,
             .resistance = pass.set->resistance(),
             .mean = w.at(mean_),
             .width = w.at(width_),
             .weight = w.at(weight_)};
    launch(stream_, resistance_values_kernel, static_cast<unsigned>(task_.count), kTableThreads, 0, task_, add_to,
           values);
  }

  void backward(const Weights& w, const PassInput&, float* slope) override {
    launch(stream_, resistance_gradient_kernel, dim3(static_cast<unsigned>(kernels_), static_cast<unsigned>(w.slices)),
           kTableThreads, kTableThreads * sizeof(double), task_, slope, w.size, w.gradient(mean_), w.gradient(width_),
           w.gradient(weight_));
  }

 private:
  Stream stream_;
  int heads_, kernels_;
  std::int64_t mean_, width_, weight_;
  ResistanceTask task_;
};

}  // namespace molgraph::cuda
