// Creates LibTorch modules from configurations, and reads and writes model.safetensors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "attention/reference/graph_model.hpp"
#include "datasets/archives/safetensors.hpp"

namespace molgraph {

/// Returns a newly initialised model. Equal seeds give equal weights.
std::shared_ptr<GraphModel> make_model(const ModelConfig& config, std::uint64_t seed);

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};
/// Returns the parameters, followed by the buffers.
std::vector<NamedTensor> named_tensors(const GraphModel& model);

/// A tensor of a file or of a model that has no counterpart of the same shape.
struct TensorProblem {
  enum class Kind : std::uint8_t { missing, surplus, misshapen } kind = Kind::missing;
  std::string name;
  std::string text;  ///< for messages: "missing: NAME [shape]"
};
/// Copies every stored tensor with a matching name and shape into the model and returns those that do not match.
std::vector<TensorProblem> copy_tensors(const std::map<std::string, StoredTensor>& stored, GraphModel& model);

/// Writes parameters and buffers by name, with "molgraph.config" and "molgraph.featurizer" as metadata. The file is
/// written atomically and its bytes are deterministic.
void save_model(const std::string& path, const GraphModel& model, const ModelConfig& config);

/// Converts model outputs [B, outputs] to predictions: target's unit, probabilities, or class probabilities per target.
torch::Tensor to_predictions(const Task& task, const torch::Tensor& values);

struct LoadedModel {
  ModelConfig config;
  std::shared_ptr<GraphModel> model;
};
/// Loads a model. Throws FileError naming every missing, surplus or misshapen tensor.
LoadedModel load_model(const std::string& path);

}  // namespace molgraph
