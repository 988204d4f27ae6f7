// From a configuration to a LibTorch module, and between a module and model.safetensors.
#pragma once

#include <memory>
#include <string>

#include "apps/model_config.hpp"
#include "graphormer/attention/graph_model.hpp"

namespace molgraph {

/// A freshly initialised model; equal seeds give equal weights.
std::shared_ptr<GraphModel> make_model(const ModelConfig& config, std::uint64_t seed);

/// Parameters and buffers by name, with "molgraph.config" and "molgraph.featurizer" as metadata. Atomic, deterministic bytes.
void save_model(const std::string& path, const GraphModel& model, const ModelConfig& config);

struct LoadedModel {
  ModelConfig config;
  std::shared_ptr<GraphModel> model;
};
/// Throws FileError naming every missing, surplus or misshapen tensor.
LoadedModel load_model(const std::string& path);

}  // namespace molgraph
