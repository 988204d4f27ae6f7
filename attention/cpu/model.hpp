// A whole model on the CPU without LibTorch: node input, encoder, head; forward, and forward with gradients.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attention/cpu/encoder.hpp"
#include "attention/cpu/head.hpp"
#include "attention/cpu/path.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::cpu {

/// One data set row's gradient of the loss: dscaled [outputs] from scaled [outputs]. Called from several threads.
using LossSlope = std::function<void(std::size_t molecule, const float* scaled, float* dscaled)>;

/// A layer's states of the whole batch: 0 = node input, l = after block l, -1 = output.
struct KeptStates {
  int layer = -1;
  float* states = nullptr;   ///< [tokens, C]
};

/// Results do not depend on the number of threads, bit for bit on one instruction set; predictions neither on what else
/// is in the batch. predict() may be called by several threads at once, everything else not. A plan, a batch, a layer or weights
/// that do not fit (plan_check.hpp) are std::invalid_argument; what arrays of floats hold and how long they are is the caller's to know.
class Model {
 public:
  explicit Model(const ModelPlan& plan);
  ~Model();

  /// All parameters, by the modules' names.
  std::vector<TensorSpec> tensors() const;
  /// Takes the parameters under the modules' names ("encoder.layers.0.ffn.linear1.weight" ...), float32 and row-major.
  /// `training` prepares for gradients(). Precision::bf16 needs has_bf16().
  void assign(const TensorLookup& tensors, bool training, int threads = 1, Precision precision = Precision::fp32);

  /// `scaled` [B, outputs]: the head's raw outputs.
  void predict(const GraphBatch& batch, int threads, float* scaled, const std::vector<KeptStates>& kept = {}) const;

  /// A training pass: predictions with dropout, and the loss's gradients added to `gradients` (null = frozen).
  /// `perturbation` [tokens, C] is added to the node input, `dinput` [tokens, C] is overwritten with its gradient; both
  /// may be null.
  void gradients(const GraphBatch& batch, const RandomMode& random, int threads, const LossSlope& loss, float* scaled,
                 const GradientLookup& gradients, const float* perturbation = nullptr, float* dinput = nullptr) const;

  /// Numbers per molecule that predict() yields.
  std::size_t outputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};


}  // namespace molgraph::cpu
