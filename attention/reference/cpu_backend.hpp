// A LibTorch model on the CPU engine: the module holds the parameters, the engine computes. Tensors end here.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "attention/engine.hpp"
#include "attention/reference/graph_model.hpp"

namespace molgraph {

class CpuBackend {
 public:
  /// Keeps a reference; the module must outlive the object and be float32. Precision::bf16 needs cpu::has_bf16().
  explicit CpuBackend(GraphModel& model, int threads, Precision precision = Precision::fp32);

  /// To be called after the parameters changed: the next pass reads them again.
  void weights_changed() { fresh_ = Fresh::no; }
  /// As GraphModel::run in evaluation mode. The same molecule gets the same bits in every batch.
  ModelOutput predict(const GraphBatch& batch, const std::vector<int>& keep_layers = {});
  /// One pass in training mode: the raw outputs [B, outputs]. `slope` writes the loss's derivative by a molecule's raw
  /// outputs; the gradients are added to the parameters' grad(). `dinput` [tokens, C], if not null, becomes the
  /// gradient of mode.perturbation.
  torch::Tensor train(const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope, torch::Tensor* dinput = nullptr);

 private:
  enum class Fresh : std::uint8_t { no, for_prediction, for_training };
  void refresh(Fresh wanted);

  GraphModel& model_;
  Fresh fresh_ = Fresh::no;
  std::unique_ptr<Engine> engine_;
  std::unordered_map<std::string, torch::Tensor> parameters_;
};

}  // namespace molgraph
