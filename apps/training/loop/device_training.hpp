// Training with data, weights, gradients and updates on a device. The training loop (trainer.cpp) selects the molecules
// of each update.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/training/loop/checkpoint.hpp"
#include "apps/training/loop/run_control.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "attention/resident_training.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct TrainerOptions;

/// Replaces floats on the device with their sums over all processes (UpdateOptions::sum_over_processes).
using DeviceSum = std::function<void(float* values, std::size_t size, DeviceStream stream)>;

class DeviceTraining {
 public:
  /// Loads the whole data set. The boundary must have a resident(). Keeps references to model and set, and shares the
  /// boundary. `decay_exempt` takes a parameter name; `sum`: empty = single process. Throws DeviceError if there is too
  /// little memory.
  DeviceTraining(std::shared_ptr<EngineBoundary> boundary, const GraphModel& model, const MoleculeSet& set,
                 std::function<bool(const std::string&)> decay_exempt, DeviceSum sum = {}, RunControl control = {});

  /// Starts from the state of a run, under the names in a checkpoint (model.*, adam.m.*, adam.v.*, ema.*). `updates` is
  /// the number of updates made so far.
  void begin(const TrainerOptions& options, const NamedTensors& state, std::int64_t updates);
  /// Copies the state back.
  void fetch(const NamedTensors& state);
  /// Makes one update on the mean loss of a batch. Returns before it is complete. `molecules` is this process's part of
  /// the batch, `present` the number of labels in the whole batch; `update` counts from 0.
  void step(std::span<const std::int64_t> molecules, std::int64_t present, std::uint32_t update, double learning_rate);
  struct Losses {
    double sum = 0;
    std::int64_t count = 0;  ///< number of labels
  };
  /// Returns the losses since the last call. Waits until all updates are complete.
  Losses take_losses();
  /// Returns predictions in the form of predict_molecules().
  std::vector<double> predict(const std::vector<std::int64_t>& molecules);
  /// Swaps the weights and their moving average. Does nothing if there is no average.
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
