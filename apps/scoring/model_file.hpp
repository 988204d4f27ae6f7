// model.safetensors as it is read without LibTorch: what the model is, and the model on an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/scoring/predictor.hpp"
#include "attention/engine.hpp"
#include "datasets/archives/safetensors.hpp"

namespace molgraph {

/// Metadata of a model file: the configuration, and the featuriser's hash.
inline constexpr const char* kConfigKey = "molgraph.config";
inline constexpr const char* kFeaturizerKey = "molgraph.featurizer";

/// The weights and metadata of a model. Throws FileError also where a number is not finite.
SafetensorsFile read_model_file(const std::string& path);
/// The targets' mean and deviation, which the model's raw output is scaled by: [outputs] float64, in older files
/// float32.
inline constexpr const char* kTargetShift = "target_shift";
inline constexpr const char* kTargetScale = "target_scale";

/// One of the two; empty if the file has no such numbers.
std::vector<double> target_scaling(const SafetensorsFile& file, const char* name);

/// The configuration in a model file's metadata. Throws FileError.
ModelConfig read_model_config(const SafetensorsFile& file, const std::string& path);

/// What keeps two models from being combined: "units eV instead of kcal/mol"; "" = nothing.
std::string model_difference(const ModelConfig& first, const ModelConfig& other);

/// What the model consists of.
ModelPlan model_plan(const ModelConfig& config);

/// GPU number `gpu`, or (-1) the CPU with one thread: whoever scores calls predict() from several.
Device device_of(int gpu);
/// Throws UsageError where the device cannot be used with this precision.
void check_device(const Device& device, Precision precision);

/// A model that scores.
struct ScoringModel {
  ModelConfig config;
  std::unique_ptr<Engine> engine;
  std::vector<double> target_shift, target_scale;  ///< [outputs]

  /// The engine's raw outputs of one molecule [outputs] -> what users see: target's unit, probabilities, or class
  /// probabilities per target. `scaled` is used up.
  void to_predictions(float* scaled, double* values) const;
};
/// Throws FileError naming every missing, surplus or misshapen tensor.
ScoringModel load_scoring_model(const std::string& path, const Device& device = {},
                                Precision precision = Precision::fp32);

}  // namespace molgraph
