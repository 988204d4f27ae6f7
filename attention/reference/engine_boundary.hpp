// A LibTorch model on an engine: the module holds the parameters, the engine computes. Tensors end here.
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
  /// Keeps a reference to the model, which must outlive the object, lie on the CPU and be float32. Errors are
  /// make_engine()'s.
  explicit EngineBoundary(GraphModel& model, const Device& device = {}, Precision precision = Precision::fp32);

  /// To be called after the parameters changed: the next pass reads them again.
  void weights_changed() { fresh_ = Fresh::no; }
  /// As GraphModel::run in evaluation mode.
  ModelOutput predict(const GraphBatch& batch, const std::vector<int>& keep_layers = {});
  /// One pass in training mode: the raw outputs [B, outputs]. `slope` writes the loss's derivative by a molecule's raw
  /// outputs; the gradients are added to the parameters' grad(). `dinput` [tokens, C], if not null, becomes the
  /// gradient of mode.perturbation.
  torch::Tensor train(const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope,
                      torch::Tensor* dinput = nullptr);

  /// What a batch has to be packed with.
  PackOptions pack_options() const { return engine_->pack_options(); }
  /// With the model's weights in it, ready to train.
  Engine& engine();
  /// Training that stays on the device, with the model's weights there to begin with; null where there is none.
  ResidentTraining* resident();

 private:
  enum class Fresh : std::uint8_t { no, for_prediction, for_training };
  void refresh(Fresh wanted);

  GraphModel& model_;
  std::unique_ptr<Engine> engine_;
  Fresh fresh_ = Fresh::no;
};

}  // namespace molgraph
