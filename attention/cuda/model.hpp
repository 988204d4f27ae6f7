// A whole model on a GPU without LibTorch: as the CPU engine's model (cpu/model.hpp), and training that stays on the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/cuda/memory.hpp"
#include "attention/cuda/precision.hpp"
#include "attention/engine.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::MOLGRAPH_CUDA {

enum class LossKind { l1, mse, huber, bce, ce };

/// What a run trains on, and how.
struct TrainingOptions {
  LossKind loss = LossKind::l1;
  int targets = 1;                      ///< per molecule
  std::vector<float> target;            ///< [molecules, targets], NaN = missing
  std::vector<float> shift, scale;      ///< [outputs] of the regression targets
  double weight_decay = 0.01, clip = 0; ///< clip 0 = off
  double average = 0;                   ///< decay of the weights' moving average, 0 = off
  std::function<bool(const std::string&)> frozen, decay_exempt;   ///< by parameter name; empty = none is
  std::uint64_t seed = 0;
  /// Replaces [size] floats on the device by their sums over all processes that train together; empty = there is one.
  std::function<void(float* values, std::size_t size, Stream stream)> sum_over_processes;
};

/// Sum of the losses over the targets that were present, and their number.
struct LossTotal {
  double sum = 0, count = 0;
};

/// What a checkpoint holds beside the weights, by parameter name.
struct TrainingState {
  GradientLookup mean, square, average;   ///< where to; null = not wanted
};
struct TrainingStateSource {
  TensorLookup mean, square, average;
};

/// A model on one GPU. No sum is made by atomic additions, so equal runs should give equal bits on one kind of card. Where all products
/// are the engine's own kernels, the bits of a prediction do not depend on what else is in the batch. Products of 256 rows, columns and
/// depth or more are cublasLt's, if it can be loaded: it chooses by the batch's number of tokens how it sums, so that bits of models 256
/// wide or wider depend on that number, and on cublasLt's version. Any thread may call, one at a time; predict() takes several at once.
/// Every function throws DeviceError when the device fails, and std::invalid_argument for what does not fit the plan, as
/// Engine does.
class Model {
 public:
  virtual ~Model() = default;

  virtual std::size_t outputs() const = 0;
  /// Takes the parameters under the modules' names.
  virtual void assign(const TensorLookup& tensors) = 0;
  /// Hands them out again.
  virtual void read(const GradientLookup& tensors) const = 0;

  /// As Engine::predict() and gradients().
  virtual void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept = {}) = 0;
  virtual void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                         const GradientLookup& gradients, const float* perturbation = nullptr, float* dinput = nullptr) = 0;

  // --- molecules that are given once ---

  /// Adds molecules to those that wait for upload_molecules(); they are numbered in the order of the calls.
  virtual void add_molecules(const GraphBatch& batch) = 0;
  /// What takes more than `most_bytes` (0 = half of the free memory) stays on the host, and every batch's molecules are sent to the
  /// device; the results are the same. Returns whether the molecules are on the device.
  virtual bool upload_molecules(std::size_t most_bytes = 0) = 0;
  /// `scaled` [numbers, outputs]
  virtual void predict_resident(std::span<const std::int64_t> numbers, float* scaled) = 0;

  // --- training on them: assign() and upload_molecules() first ---

  /// From `updates` updates on; `options` and `state` are read here and not kept.
  virtual void start_training(const TrainingOptions& options, std::int64_t updates, const TrainingStateSource& state = {}) = 0;
  /// One AdamW update on the mean loss of these molecules; returns at once. `update` counts from 0 and keys the random numbers.
  /// `targets`: how many are present, if not all molecules of the batch are here; 0 = all are.
  virtual void step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate, std::int64_t targets = 0) = 0;
  /// The kernels of one update on these molecules, at a learning rate of zero: no weight changes, the moments do.
  virtual std::vector<KernelTime> profile_step(std::span<const std::int64_t> numbers) = 0;
  /// Losses since the last call; waits for the device.
  virtual LossTotal take_losses() = 0;
  virtual void read_state(const TrainingState& to) const = 0;
  /// The averages become the weights, and the other way round.
  virtual void swap_average() = 0;
};

/// Throws DeviceError if GPU `number` cannot be used; why_unusable() says why.
std::unique_ptr<Model> make_model(const ModelPlan& plan, Math math = Math::fp32, int number = 0);

}  // namespace molgraph::MOLGRAPH_CUDA
