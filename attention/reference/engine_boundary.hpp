// Runs a LibTorch model on an engine: the module owns the parameters, the engine computes. Engines do not use tensors.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "attention/engine.hpp"
#include "attention/reference/graph_model.hpp"

namespace molgraph {

class EngineBoundary {
 public:
  /// Keeps a reference to the model, which must outlive the object, be on the CPU and be float32. Throws the errors of
  /// make_engine().
  explicit EngineBoundary(GraphModel& model, const Device& device = {}, Precision precision = Precision::fp32);

  /// Call this after the parameters change. The next pass reads them again.
  void weights_changed() { loaded_ = Loaded::no; }
  /// Same as GraphModel::run in evaluation mode.
  ModelOutput predict(const GraphBatch& batch, const std::vector<int>& keep_layers = {});
  /// Runs one pass in training mode and returns the raw outputs [B, outputs]. `slope` writes the derivative of the loss
  /// with respect to a molecule's raw outputs. The gradients are added to the parameters' grad(). `dinput` [tokens, C],
  /// if not null, is set to the gradient of mode.perturbation.
  torch::Tensor train(const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope,
                      torch::Tensor* dinput = nullptr);

  /// Options for packing batches.
  PackOptions pack_options() const { return engine_->pack_options(); }
  /// The engine with the model's current weights, ready to train.
  Engine& engine();
  /// Training that stays on the device and starts from the model's weights; null if the engine has none.
  ResidentTraining* resident();

 private:
  enum class Loaded : std::uint8_t { no, for_prediction, for_training };
  void refresh(Loaded required);

  GraphModel& model_;
  std::unique_ptr<Engine> engine_;
  Loaded loaded_ = Loaded::no;
};

}  // namespace molgraph
