// The configuration of a saved model: its options, featuriser and task. The struct defines the file header.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/spec/model_options.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

/// Written as JSON into the metadata ("molgraph.config") of model.safetensors.
struct ModelConfig {
  ModelOptions model;  ///< features and outputs follow from featurizer and task, see model_plan()
  FeaturizerOptions featurizer;
  Task task;
  /// [HeadOptions::inputs] names of the head's numeric inputs: the featuriser's descriptors, then columns of the table.
  std::vector<std::string> input_names;

  /// The part of `input_names` that a table must contain.
  std::span<const std::string> input_columns() const;
  const EncoderOptions& encoder() const { return model.encoder; }
  EncoderOptions& encoder() { return model.encoder; }
};

/// Deterministic JSON text (sorted keys, no whitespace).
std::string to_json(const ModelConfig& config);
/// Throws FileError naming the key that is missing, unknown or out of range. `where` is the file name.
ModelConfig model_config_from_json(const std::string& json, const std::string& where);

}  // namespace molgraph
