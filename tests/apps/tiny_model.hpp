// Small models with random weights, saved as runs. They test programs; their predictions have no meaning.
#pragma once

#include <cstdint>
#include <string>

#include "apps/scoring/model_config.hpp"
#include "graphormer/architecture.hpp"
#include "grpe/architecture.hpp"

namespace molgraph::test {

constexpr int kTinyWidth = 16;
constexpr int kTinyLayers = 2;

/// Graphormer with URPE's gate, or GRPE. The task is regression of `targets`.
ModelConfig tiny_config(const Architecture& architecture, const std::vector<std::string>& targets);
/// Writes FOLDER/model.safetensors. Weights and scaling (shift 3, scale 2 for regression) depend only on `seed`.
void save_tiny_run(const std::string& folder, const ModelConfig& config, std::uint64_t seed);
/// Multiplies a tensor of FOLDER/model.safetensors by `factor`.
void scale_weights(const std::string& folder, const std::string& tensor, float factor);

}  // namespace molgraph::test
