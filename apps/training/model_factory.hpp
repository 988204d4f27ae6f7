// From a configuration to a LibTorch module, and between a module and model.safetensors.
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

/// A freshly initialised model; equal seeds give equal weights.
std::shared_ptr<GraphModel> make_model(const ModelConfig& config, std::uint64_t seed);

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};
/// Parameters, then buffers.
std::vector<NamedTensor> named_tensors(const GraphModel& model);

/// A tensor of a file, or of a model, that fits nothing on the other side.
struct TensorProblem {
  enum class Kind : std::uint8_t { missing, surplus, misshapen } kind = Kind::missing;
  std::string name;
  std::string text;  ///< for people: "missing: NAME [shape]"
};
/// Copies every stored tensor of the same name and shape into the model and returns those that do not fit.
std::vector<TensorProblem> copy_tensors(const std::map<std::string, StoredTensor>& stored, GraphModel& model);

/// Parameters and buffers by name, with "molgraph.config" and "molgraph.featurizer" as metadata. Atomic, deterministic
/// bytes.
void save_model(const std::string& path, const GraphModel& model, const ModelConfig& config);

/// Model output [B, outputs] -> what users see: target's unit, probabilities, or class probabilities per target.
torch::Tensor to_predictions(const Task& task, const torch::Tensor& values);

struct LoadedModel {
  ModelConfig config;
  std::shared_ptr<GraphModel> model;
};
/// Throws FileError naming every missing, surplus or misshapen tensor.
LoadedModel load_model(const std::string& path);

}  // namespace molgraph
