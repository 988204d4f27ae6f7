// Training whose data, weights, gradients and updates stay on a device; the loop (trainer.cpp) tells it which molecules come next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/training/checkpoint.hpp"

namespace molgraph {

struct TrainerOptions;

class DeviceTraining {
 public:
  virtual ~DeviceTraining() = default;

  /// Takes the state of a run by the names it has in a checkpoint (model.*, adam.m.*, adam.v.*, ema.*); `updates` were made before.
  virtual void begin(const TrainerOptions& options, const NamedTensors& state, std::int64_t updates) = 0;
  /// Writes it back.
  virtual void fetch(const NamedTensors& state) = 0;
  /// One update on the mean loss of a batch; returns before it is done. `molecules` is this process's part of it, `present` the number
  /// of targets that the whole batch has; `update` counts from 0.
  virtual void step(std::span<const std::int64_t> molecules, std::int64_t present, std::uint32_t update, double learning_rate) = 0;
  struct Losses {
    double sum = 0;
    std::int64_t count = 0;   ///< targets that were present
  };
  /// Since the last call; waits until all updates are done.
  virtual Losses take_losses() = 0;
  /// As predict_molecules().
  virtual std::vector<double> predict(const std::vector<std::int64_t>& molecules) = 0;
  /// Exchanges the weights with their moving average; nothing without one.
  virtual void swap_average() = 0;
};

}  // namespace molgraph
