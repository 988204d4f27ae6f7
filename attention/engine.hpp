// What computes a whole model without LibTorch: node input, encoder, head; forward, and forward with gradients. One
// interface for the CPU (cpu/) and the GPU (cuda/); which of them it is, is known to make_engine() alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attention/spec/model_plan.hpp"
#include "attention/spec/precision.hpp"
#include "attention/spec/random.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Where a parameter's numbers are, by its name (spec/parameters.hpp), row-major float32; null = there is none.
using TensorLookup = std::function<const float*(const std::string&)>;
/// Where a gradient is added to, or a parameter written to; null = it is not wanted (a frozen parameter's gradient).
using GradientLookup = std::function<float*(const std::string&)>;

/// One molecule's gradient of the loss: dscaled [outputs] from scaled [outputs]. May be called from several threads.
using LossSlope = std::function<void(std::size_t molecule, const float* scaled, float* dscaled)>;

/// A layer's states of the whole batch: 0 = node input, l = after block l, -1 = output.
struct KeptStates {
  int layer = -1;
  float* states = nullptr;  ///< [tokens, C]
};

/// What an engine works with: the CPU with so many threads (at least one), or GPU `number`.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda } kind = Kind::cpu;
  int number = 0;
  int threads = 1;
};

/// A device that is missing or fails.
class DeviceError : public RunError {
 public:
  using RunError::RunError;
};

class ResidentTraining;  // attention/resident_training.hpp

/// A model on one device. Results do not depend on the number of threads nor, where all products are the engine's own
/// kernels, on what else is in the batch, bit for bit on one kind of processor. predict() may be called by several
/// threads at once, everything else not. A plan, a batch, a layer or weights that do not fit (spec/plan_check.hpp) are
/// std::invalid_argument, a device that fails is DeviceError; what arrays of floats hold and how long they are is the
/// caller's to know.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Numbers per molecule that predict() yields.
  virtual std::size_t outputs() const = 0;
  /// What a batch has to be packed with: an engine that finds paths itself needs none.
  virtual PackOptions pack_options() const = 0;
  /// Pairs of tokens that one call of predict() should have, where there are so many: fewer leave threads or a GPU
  /// waiting.
  virtual std::int64_t pairs_per_call() const = 0;

  /// Takes all parameters under their names. `training` prepares for gradients().
  virtual void assign(const TensorLookup& tensors, bool training) = 0;

  /// `scaled` [B, outputs]: the head's raw outputs.
  virtual void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept = {}) = 0;

  /// A training pass: predictions with dropout, and the loss's gradients added to `gradients`.
  /// `perturbation` [tokens, C] is added to the node input, `dinput` [tokens, C] is overwritten with its gradient; both
  /// may be null.
  virtual void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                         const GradientLookup& gradients, const float* perturbation = nullptr,
                         float* dinput = nullptr) = 0;

  /// Training whose molecules, weights and updates stay on the device; null where there is none.
  virtual ResidentTraining* resident() { return nullptr; }
};

/// Throws DeviceError if the device cannot be used, std::invalid_argument for a plan that does not fit or a precision
/// that it lacks.
std::unique_ptr<Engine> make_engine(const ModelPlan& plan, const Device& device = {},
                                    Precision precision = Precision::fp32);

/// The CPU computes in bf16 only where that is faster than fp32, by what the processor says of itself and never by a
/// clock: equal machines give equal bits. GPUs compute in what is asked for.
UsedPrecision used_precision(const Device& device, Precision asked);

/// Why the device cannot be used with this precision, "" if it can.
std::string why_unusable(const Device& device, Precision precision = Precision::fp32);

/// Makes a GPU the calling thread's own, for other libraries that work on it; of the CPU nothing.
void use_device(const Device& device);

/// Sets who receives the engines' notes, such as that slower kernels are used. Each text is sent once. Empty = a line
/// on stderr.
void tell_notes(std::function<void(const std::string&)> to);

}  // namespace molgraph
