// AdamW with gradient clipping, and the moving average of the weights. Both can be stored in a checkpoint.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/training/loop/checkpoint.hpp"
#include "apps/training/loop/processes.hpp"

namespace molgraph {

/// AdamW (Loshchilov & Hutter 2019, algorithm 2; betas 0.9 and 0.999, eps 1e-8) for all float32 parameters that require
/// a gradient. It makes one pass over memory. LibTorch's optimiser makes ten calls per parameter, which takes longer
/// than the gradients of a small model.
class Optimizer {
 public:
  /// `decay_exempt` takes a parameter name.
  Optimizer(torch::nn::Module& module, const std::function<bool(const std::string&)>& decay_exempt,
            double weight_decay);

  /// Sums the gradients of all processes.
  void sum_gradients(Processes& processes);
  /// Makes one update and sets the gradients to 0. If `clip` > 0, the norm of the whole gradient is first clipped to
  /// it. The result does not depend on the number of threads.
  void step(double learning_rate, double clip);

  /// Appends the moments as "adam.m.NAME" and "adam.v.NAME".
  void append_state(NamedTensors& tensors) const;
  /// Sets the number of updates after the moments were restored (for the bias correction).
  void set_updates(std::int64_t updates);

 private:
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_, means_, squares_;  ///< the moments m and v
  std::vector<double> decay_;                                ///< per parameter
  std::int64_t updates_ = 0;
};

/// Exponential moving average of the parameters. Decay 0 turns it off; all calls then do nothing.
class WeightAverage {
 public:
  WeightAverage(torch::nn::Module& module, double decay);
  void update();
  /// Swaps the weights and their average.
  void swap();
  /// Appends the averages as "ema.NAME".
  void append_state(NamedTensors& tensors) const;

 private:
  double decay_;
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_, averages_;
};

}  // namespace molgraph
