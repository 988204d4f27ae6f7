// A LibTorch model on the CUDA engine: the module holds the parameters, the GPU computes. Tensors end here (cf. engine_boundary.hpp).
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "attention/cuda/cuda_engine.hpp"
#include "attention/reference/graph_model.hpp"

namespace molgraph::cuda {

class Backend {
 public:
  /// Keeps a reference; the module must outlive the object, lie on the CPU and be float32. Throws DeviceError.
  explicit Backend(GraphModel& model, Precision precision = Precision::fp32, int device = 0);

  /// To be called after the parameters changed: the next pass reads them again.
  void weights_changed() { fresh_ = false; }
  /// As GraphModel::run in evaluation mode.
  ModelOutput predict(const GraphBatch& batch, const std::vector<int>& keep_layers = {});
  /// As EngineBoundary::train().
  torch::Tensor train(const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope, torch::Tensor* dinput = nullptr);

  /// For training on the device itself; the module's weights are there.
  Engine& engine();
  ResidentTraining& resident() { return *engine().resident(); }
  /// Writes the device's weights into the module.
  void fetch_weights();

 private:
  TensorLookup lookup() const;

  GraphModel& model_;
  bool fresh_ = false;
  std::unique_ptr<Engine> engine_;
  std::unordered_map<std::string, torch::Tensor> parameters_;
};

}  // namespace molgraph::cuda
