// AdamW with clipping, and the moving average of the weights; both know how to go into a checkpoint.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/training/checkpoint.hpp"
#include "apps/training/processes.hpp"

namespace molgraph {

/// AdamW (Loshchilov & Hutter 2019, algorithm 2; betas 0.9 and 0.999, eps 1e-8) over all float32 parameters that
/// require a gradient. One pass over memory: LibTorch's takes ten calls per parameter, longer than a small model's
/// gradients.
class Optimizer {
 public:
  /// `decay_exempt` by parameter name.
  Optimizer(torch::nn::Module& module, const std::function<bool(const std::string&)>& decay_exempt,
            double weight_decay);

  void zero_grad();
  /// The gradients of all processes are added up.
  void sum_gradients(Processes& processes);
  /// One update; `clip` > 0 bounds the norm of the whole gradient first.
  void step(double learning_rate, double clip);

  /// Appends the moments as "adam.m.NAME" and "adam.v.NAME".
  void append_state(NamedTensors& tensors) const;
  /// After the moments were read back: the number of updates they stand for (bias correction).
  void set_updates(std::int64_t updates);

 private:
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_, means_, squares_;  ///< the moments m and v
  std::vector<double> decay_;                                ///< per parameter
  std::int64_t updates_ = 0;
};

/// Exponential moving average of the parameters (decay 0 = off: every call does nothing).
class WeightAverage {
 public:
  WeightAverage(torch::nn::Module& module, double decay);
  void update();
  /// Exchanges the weights with their average.
  void swap();
  /// Appends the averages as "ema.NAME".
  void append_state(NamedTensors& tensors) const;

 private:
  double decay_;
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_, averages_;
};

}  // namespace molgraph
