// model.safetensors as it is read without LibTorch: what the model is, and the model on an engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/scoring/predictor.hpp"
#include "datasets/archives/safetensors.hpp"
#include "attention/cpu/model.hpp"
#include "attention/cuda/model.hpp"

namespace molgraph {

/// Metadata of a model file: the configuration, and the featuriser's hash.
inline constexpr const char* kConfigKey = "molgraph.config";
inline constexpr const char* kFeaturizerKey = "molgraph.featurizer";

/// The weights and metadata of a model. Throws FileError also where a number is not finite.
SafetensorsFile read_model_file(const std::string& path);
/// The targets' mean and deviation, which the model's raw output is scaled by: [outputs] float64, in older files float32.
inline constexpr const char* kTargetShift = "target_shift";
inline constexpr const char* kTargetScale = "target_scale";

/// One of the two; empty if the file has no such numbers.
std::vector<double> target_scaling(const SafetensorsFile& file, const char* name);

/// The configuration in a model file's metadata. Throws FileError.
ModelConfig read_model_config(const SafetensorsFile& file, const std::string& path);

/// What the model consists of.
ModelPlan model_plan(const ModelConfig& config);

/// Throws UsageError where this processor, or GPU number `gpu` (-1 = the CPU is asked for), cannot compute in it.
void check_precision(ScorePrecision precision, int gpu);
/// What the engines call it; the GPU's need not be asked for where there is none.
cpu::Precision cpu_precision(ScorePrecision precision);
cuda::Math gpu_precision(ScorePrecision precision);

/// A model that scores.
struct ScoringModel {
  ModelConfig config;
  ModelPlan plan;
  std::unique_ptr<cpu::Model> engine;
  std::unique_ptr<cuda::Model> gpu;                ///< instead, where one is asked for
  std::vector<double> target_shift, target_scale;  ///< [outputs]

  /// The engine's raw outputs [B, outputs], and states. May be called by several threads at once.
  void predict(const GraphBatch& batch, float* scaled, const std::vector<cpu::KeptStates>& kept) const;

  /// The engine's raw outputs of one molecule [outputs] -> what users see: target's unit, probabilities, or class
  /// probabilities per target. `scaled` is used up.
  void to_predictions(float* scaled, double* values) const;
};
/// Throws FileError naming every missing, surplus or misshapen tensor.
ScoringModel load_scoring_model(const std::string& path, ScorePrecision precision = ScorePrecision::fp32, int gpu = -1);

}  // namespace molgraph
