// Training whose molecules, weights, gradients and updates stay on a device: what Engine::resident() offers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attention/engine.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph {

/// The order in which a device works: a cudaStream_t. Work that is put on it begins after all that was put there
/// before.
using DeviceStream = void*;

/// What updates of resident molecules are made of.
struct UpdateOptions {
  Loss loss = Loss::l1;
  std::vector<Loss> losses;              ///< [T] of each target, none of them ce; empty = `loss` is that of all
  int targets = 1;                       ///< T, per molecule
  std::vector<float> target;             ///< [molecules, T], NaN = missing
  std::vector<float> weight;             ///< [molecules, T] of the labels in the loss; empty = all are 1
  std::vector<std::int8_t> bound;        ///< [molecules, T] as target_loss() takes it; empty = all are exact
  std::vector<float> shift, scale;       ///< [outputs] of the targets, for the losses of regression
  double weight_decay = 0.01, clip = 0;  ///< clip: bound of the gradient's norm, 0 = none
  double average = 0;                    ///< decay of the weights' moving average, 0 = none
  std::function<bool(const std::string&)> frozen, decay_exempt;  ///< by parameter name; empty = none is
  std::uint64_t seed = 0;
  /// Replaces [size] floats on the device by their sums over all processes that train together; empty = there is one.
  std::function<void(float* values, std::size_t size, DeviceStream stream)> sum_over_processes;
};

/// Sum of the losses over the targets that were present, and their number.
struct LossTotal {
  double sum = 0, count = 0;
};

/// What updates leave beside the weights, by parameter name: AdamW's moments, the moving average. Where to; null = not
/// wanted.
struct UpdateState {
  GradientLookup mean, square, average;
};
/// The same to go on from.
struct UpdateStateSource {
  TensorLookup mean, square, average;
};

/// Launches of one kernel, and the time they took together.
struct KernelTime {
  std::string name;
  std::int64_t launches = 0;
  double milliseconds = 0;
};

/// Molecules are given once and go by their numbers from then on. One call at a time; errors as Engine's.
class ResidentTraining {
 public:
  virtual ~ResidentTraining() = default;

  /// Adds molecules to those that wait for upload_molecules(); they are numbered in the order of the calls.
  virtual void add_molecules(const GraphBatch& batch) = 0;
  /// What takes more than `most_bytes` (0 = half of the free memory) stays on the host, and every batch's molecules are
  /// sent to the device; the results are the same. Returns whether the molecules are on the device.
  virtual bool upload_molecules(std::size_t most_bytes = 0) = 0;
  /// `scaled` [numbers, outputs]
  virtual void predict_resident(std::span<const std::int64_t> numbers, float* scaled) = 0;

  /// From `updates` updates on, after Engine::assign() and upload_molecules(); `options` and `state` are read here and
  /// not kept.
  virtual void start_training(const UpdateOptions& options, std::int64_t updates,
                              const UpdateStateSource& state = {}) = 0;
  /// One AdamW update on the mean loss of these molecules; returns at once. `update` counts from 0 and keys the random
  /// numbers. `targets`: how many are present, if not all molecules of the batch are here; 0 = all are.
  virtual void step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate,
                    std::int64_t targets = 0) = 0;
  /// The kernels of one update on these molecules, at a learning rate of zero: no weight changes, the moments do.
  virtual std::vector<KernelTime> profile_step(std::span<const std::int64_t> numbers) = 0;
  /// Losses since the last call; waits for the device.
  virtual LossTotal take_losses() = 0;

  /// Hands the parameters out.
  virtual void read(const GradientLookup& tensors) const = 0;
  virtual void read_state(const UpdateState& to) const = 0;
  /// The averages become the weights, and the other way round.
  virtual void swap_average() = 0;
};

}  // namespace molgraph
