// model.safetensors as it is read without LibTorch: what the model is, and the model on the CPU engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/model_config.hpp"
#include "datasets/safetensors.hpp"
#include "graphormer/attention/cpu/model.hpp"

namespace molgraph {

/// Metadata of a model file: the configuration, and the featuriser's hash.
inline constexpr const char* kConfigKey = "molgraph.config";
inline constexpr const char* kFeaturizerKey = "molgraph.featurizer";

/// The configuration in a model file's metadata. Throws FileError.
ModelConfig read_model_config(const SafetensorsFile& file, const std::string& path);

/// What the model consists of.
ModelPlan model_plan(const ModelConfig& config);

/// Throws UsageError where this processor cannot compute in it.
void check_precision(cpu::Precision precision);

/// A model that scores.
struct ScoringModel {
  ModelConfig config;
  ModelPlan plan;
  std::unique_ptr<cpu::Model> engine;
  std::vector<float> target_shift, target_scale;   ///< [outputs]

  /// The engine's raw outputs of one molecule -> what users see: target's unit, probabilities, or class probabilities per
  /// target. In place, [outputs].
  void to_predictions(float* values) const;
};
/// Throws FileError naming every missing, surplus or misshapen tensor.
ScoringModel load_scoring_model(const std::string& path, cpu::Precision precision = cpu::Precision::fp32);

}  // namespace molgraph
