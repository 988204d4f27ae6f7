// Reads model.safetensors without LibTorch: the configuration, and the model on an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/scoring/predictor.hpp"
#include "attention/engine.hpp"
#include "datasets/archives/safetensors.hpp"

namespace molgraph {

/// Metadata keys of a model file: the configuration and the featuriser's hash.
inline constexpr const char* kConfigKey = "molgraph.config";
inline constexpr const char* kFeaturizerKey = "molgraph.featurizer";

/// The weights and metadata of a model. Throws FileError, also if a weight is not finite.
SafetensorsFile read_model_file(const std::string& path);
/// Mean and standard deviation of the targets, by which the model's raw output is scaled: [outputs] float64.
inline constexpr const char* kTargetShift = "target_shift";
inline constexpr const char* kTargetScale = "target_scale";

/// One of the two; empty if the file does not contain it as float64.
std::vector<double> target_scaling(const SafetensorsFile& file, const char* name);

/// The configuration in a model file's metadata. Throws FileError.
ModelConfig read_model_config(const SafetensorsFile& file, const std::string& path);

/// Why two models cannot be combined: "units eV instead of kcal/mol"; "" if they can.
std::string model_difference(const ModelConfig& first, const ModelConfig& other);

ModelPlan model_plan(const ModelConfig& config);

/// Throws UsageError if the device cannot be used with this precision.
void check_device(const Device& device, Precision precision);
/// Throws UsageError, with the name `of`, if the device's engine lacks a part of the model.
void check_device(const Device& device, const EncoderOptions& encoder, const std::string& of);

/// A model for scoring.
struct ScoringModel {
  ModelConfig config;
  std::unique_ptr<Engine> engine;
  std::vector<double> target_shift, target_scale;  ///< [outputs]

  /// Converts the engine's raw outputs of one molecule [outputs] to predictions: the target's unit, probabilities, or
  /// class probabilities per target. Overwrites `scaled`.
  void to_predictions(float* scaled, double* values) const;
};
/// Throws FileError naming every missing, surplus or misshapen tensor of the file.
ScoringModel load_scoring_model(const std::string& path, const Device& device = {},
                                Precision precision = Precision::fp32);

}  // namespace molgraph
