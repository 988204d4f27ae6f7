// Training whose data, weights, gradients and updates stay on a device; the loop (trainer.cpp) tells it which molecules
// come next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/training/checkpoint.hpp"
#include "apps/training/run_control.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "attention/resident_training.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct TrainerOptions;

/// Replaces floats on the device by their sums over all processes: UpdateOptions::sum_over_processes.
using DeviceSum = std::function<void(float* values, std::size_t size, DeviceStream stream)>;

class DeviceTraining {
 public:
  /// Loads the whole data set. There must be a resident(). Keeps references to model and set, and shares the boundary.
  /// `decay_exempt` by parameter name; `sum`: empty = this process trains alone. Throws DeviceError if the memory is
  /// too small.
  DeviceTraining(std::shared_ptr<EngineBoundary> boundary, const GraphModel& model, const MoleculeSet& set,
                 std::function<bool(const std::string&)> decay_exempt, DeviceSum sum = {}, RunControl control = {});

  /// Takes the state of a run by the names it has in a checkpoint (model.*, adam.m.*, adam.v.*, ema.*); `updates` were
  /// made before.
  void begin(const TrainerOptions& options, const NamedTensors& state, std::int64_t updates);
  /// Writes it back.
  void fetch(const NamedTensors& state);
  /// One update on the mean loss of a batch; returns before it is done. `molecules` is this process's part of it,
  /// `present` the number of targets that the whole batch has; `update` counts from 0.
  void step(std::span<const std::int64_t> molecules, std::int64_t present, std::uint32_t update, double learning_rate);
  struct Losses {
    double sum = 0;
    std::int64_t count = 0;  ///< targets that were present
  };
  /// Since the last call; waits until all updates are done.
  Losses take_losses();
  /// As predict_molecules().
  std::vector<double> predict(const std::vector<std::int64_t>& molecules);
  /// Exchanges the weights with their moving average; nothing without one.
  void swap_average();

 private:
  ResidentTraining& resident() { return *boundary_->resident(); }
  std::vector<float> scaled_targets() const;

  std::shared_ptr<EngineBoundary> boundary_;
  const GraphModel& model_;
  const MoleculeSet& set_;
  std::function<bool(const std::string&)> decay_exempt_;
  DeviceSum sum_;
  RunControl control_;
};

}  // namespace molgraph
