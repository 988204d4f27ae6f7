// What a saved model is: its kind, options, featuriser and task. The struct is the file header, defined once.
#pragma once

#include <string>

#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"
#include "graphormer/options.hpp"
#include "grpe/options.hpp"

namespace molgraph {

enum class ModelKind : std::uint8_t { graphormer, grpe };

/// Written as JSON into the metadata ("molgraph.config") of model.safetensors.
struct ModelConfig {
  ModelKind kind = ModelKind::graphormer;
  GraphormerOptions graphormer;    ///< used when kind is graphormer
  GrpeOptions grpe;                ///< used when kind is grpe
  FeaturizerOptions featurizer;
  Task task;

  const EncoderOptions& encoder() const { return kind == ModelKind::graphormer ? graphormer.encoder : grpe.encoder; }
  int max_distance() const { return kind == ModelKind::graphormer ? graphormer.max_distance : grpe.max_distance; }
  const MissingRows& missing() const { return kind == ModelKind::graphormer ? graphormer.missing : grpe.missing; }
  const PublishedLayout& published() const {
    return kind == ModelKind::graphormer ? graphormer.published : grpe.published;
  }
  EncoderOptions& encoder() { return kind == ModelKind::graphormer ? graphormer.encoder : grpe.encoder; }
};

/// Stable JSON text (sorted keys, no spaces that differ).
std::string to_json(const ModelConfig& config);
/// Throws FileError naming the key that is missing, unknown or out of range. `where` is the file's name.
ModelConfig model_config_from_json(const std::string& json, const std::string& where);

}  // namespace molgraph
