// Computes a whole model without LibTorch: node input, encoder and head, forward and with gradients. The CPU (cpu/) and
// the GPU (cuda/) have the same interface; only make_engine() knows which one is used.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attention/spec/device.hpp"
#include "attention/spec/model_plan.hpp"
#include "attention/spec/precision.hpp"
#include "attention/spec/random.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Returns the address of a parameter's numbers (row-major float32) by its name (spec/parameters.hpp); null = the
/// parameter does not exist.
using TensorLookup = std::function<const float*(const std::string&)>;
/// Returns the address that a gradient is added to or a parameter is written to; null = it is not needed (the gradient
/// of a frozen parameter).
using GradientLookup = std::function<float*(const std::string&)>;

/// Computes one molecule's gradient of the loss: dscaled [outputs] from scaled [outputs]. Must be thread-safe.
using LossSlope = std::function<void(std::size_t molecule, const float* scaled, float* dscaled)>;

/// Where to store the states of a layer for the whole batch. `layer`: 0 = node input, l = after block l, -1 = output.
struct KeptStates {
  int layer = -1;
  float* states = nullptr;  ///< [tokens, C]
};

/// A device that is missing or fails.
class DeviceError : public RunError {
 public:
  using RunError::RunError;
};

class ResidentTraining;  // attention/resident_training.hpp

/// A model on one device. On one kind of processor, results are bit-equal for any number of threads. If all products
/// are computed by the engine's own kernels, they do not depend on the other molecules of the batch either. Only
/// predict() is thread-safe. Throws std::invalid_argument for a plan, batch, layer or weights that do not fit
/// (spec/plan_check.hpp) and DeviceError if the device fails. The caller is responsible for the lengths of arrays.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Number of outputs of predict() per molecule.
  virtual std::size_t outputs() const = 0;
  /// Data that a packed batch must contain. An engine that computes paths itself does not need them.
  virtual PackOptions pack_options() const = 0;
  /// Recommended number of token pairs in one call of predict(). With fewer, threads or a GPU are idle.
  virtual std::int64_t pairs_per_call() const = 0;

  /// Copies all parameters. `training` prepares for gradients().
  virtual void assign(const TensorLookup& tensors, bool training) = 0;

  /// `scaled` [B, outputs]: the head's raw outputs.
  virtual void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept = {}) = 0;

  /// Computes a training pass: predictions with dropout, and the gradients of the loss, which are added to `gradients`.
  /// `perturbation` [tokens, C] is added to the node input; `dinput` [tokens, C] receives its gradient. Both may be
  /// null.
  virtual void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                         const GradientLookup& gradients, const float* perturbation = nullptr,
                         float* dinput = nullptr) = 0;

  /// Training with molecules, weights and updates that stay on the device; null if the engine does not support it.
  virtual ResidentTraining* resident() { return nullptr; }
};

/// Throws DeviceError if the device cannot be used or cannot run the model, std::invalid_argument for a plan that does
/// not fit or a precision that the device does not support.
std::unique_ptr<Engine> make_engine(const ModelPlan& plan, const Device& device = {},
                                    Precision precision = Precision::fp32);

/// Returns the precision that the device uses. The CPU uses bf16 only if it is faster than fp32. This depends on the
/// CPU features that the processor and the system report, never on a timing, so that equal machines give equal bits.
/// GPUs use the requested precision.
UsedPrecision used_precision(const Device& device, Precision requested);

/// Returns why the device cannot be used with this precision; "" if it can.
std::string why_unusable(const Device& device, Precision precision = Precision::fp32);
/// Returns which part of the model the device's engine lacks; "" if it has all parts.
std::string why_unusable(const Device& device, const EncoderOptions& encoder);

/// Selects a GPU for the calling thread, for other libraries. No effect for the CPU.
void use_device(const Device& device);

/// Sets the receiver of the engines' notes, for example that slower kernels are used. Each text is sent once. Empty = a
/// line on stderr.
void tell_notes(std::function<void(const std::string&)> to);

}  // namespace molgraph
