// Training with molecules, weights, gradients and updates that stay on a device (Engine::resident()).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attention/engine.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph {

/// A queue of a device's work (cudaStream_t). Work starts after all work that was queued before it.
using DeviceStream = void*;

/// Labels, losses and optimiser settings for updates on resident molecules.
struct UpdateOptions {
  Loss loss = Loss::l1;
  std::vector<Loss> losses;              ///< [T] loss of each target, none of them ce; empty = `loss` for all
  int targets = 1;                       ///< T, targets per molecule
  std::vector<float> target;             ///< [molecules, T], NaN = missing
  std::vector<float> weight;             ///< [molecules, T] of the labels in the loss; empty = all 1
  std::vector<std::int8_t> bound;        ///< [molecules, T] as in target_loss(); empty = all labels are exact
  std::vector<float> shift, scale;       ///< [outputs] target scaling, for regression losses
  double weight_decay = 0.01, clip = 0;  ///< clip: maximum norm of the gradient, 0 = no limit
  double average = 0;                    ///< decay of the weights' moving average, 0 = none
  std::function<bool(const std::string&)> frozen, decay_exempt;  ///< by parameter name; empty = none
  std::uint64_t seed = 0;
  /// Replaces [size] floats on the device by their sums over all worker processes; empty = one process.
  std::function<void(float* values, std::size_t size, DeviceStream stream)> sum_over_processes;
};

/// Sum of the losses over all labels that are not missing, and the number of these labels.
struct LossTotal {
  double sum = 0, count = 0;
};

/// Destinations of the optimiser state (AdamW's moments and the moving average) by parameter name; null = not needed.
struct UpdateState {
  GradientLookup mean, square, average;
};
/// Optimiser state from which training resumes.
struct UpdateStateSource {
  TensorLookup mean, square, average;
};

/// Number of launches of one kernel, and their total time.
struct KernelTime {
  std::string name;
  std::int64_t launches = 0;
  double milliseconds = 0;
};

/// Molecules are added once and then identified by their numbers. Not thread-safe. Throws the same errors as Engine.
class ResidentTraining {
 public:
  virtual ~ResidentTraining() = default;

  /// Adds molecules for the next upload_molecules(). They are numbered in the order of the calls.
  virtual void add_molecules(const GraphBatch& batch) = 0;
  /// Copies the molecules to the device and returns true. If they need more than `most_bytes` (0 = half of the free
  /// memory), they stay on the host, each batch is sent to the device when needed, and the function returns false. The
  /// results are the same.
  virtual bool upload_molecules(std::size_t most_bytes = 0) = 0;
  /// Predicts for these molecules; `scaled` [numbers, outputs].
  virtual void predict_resident(std::span<const std::int64_t> numbers, float* scaled) = 0;

  /// Starts training, or resumes it after `updates` updates. Call Engine::assign() and upload_molecules() first.
  /// `options` and `state` need not outlive the call.
  virtual void start_training(const UpdateOptions& options, std::int64_t updates,
                              const UpdateStateSource& state = {}) = 0;
  /// Starts one AdamW update on the mean loss of these molecules and returns without waiting. `update` counts from 0
  /// and is part of the key of the random numbers. `targets`: number of labels in the whole batch, if other processes
  /// have some of its molecules; 0 = all molecules are here.
  virtual void step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate,
                    std::int64_t targets = 0) = 0;
  /// Measures the kernels of one update with learning rate 0. The moments change, the weights do not.
  virtual std::vector<KernelTime> profile_step(std::span<const std::int64_t> numbers) = 0;
  /// Waits for the device and returns the losses since the last call.
  virtual LossTotal take_losses() = 0;

  /// Copies the parameters to `tensors`.
  virtual void read(const GradientLookup& tensors) const = 0;
  virtual void read_state(const UpdateState& to) const = 0;
  /// Swaps the weights and their moving averages.
  virtual void swap_average() = 0;
};

}  // namespace molgraph
