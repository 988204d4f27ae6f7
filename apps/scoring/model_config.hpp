// What a saved model is: its options, featuriser and task. The struct is the file header, defined once.
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
  ModelOptions model;  ///< its features and outputs are those of featurizer and task, see model_plan()
  FeaturizerOptions featurizer;
  Task task;
  /// [HeadOptions::inputs] of the numbers that the head reads: the featuriser's descriptors, then columns of the table.
  std::vector<std::string> input_names;

  /// Those of `input_names` that a table must have.
  std::span<const std::string> input_columns() const;
  const EncoderOptions& encoder() const { return model.encoder; }
  EncoderOptions& encoder() { return model.encoder; }
};

/// Stable JSON text (sorted keys, no spaces that differ).
std::string to_json(const ModelConfig& config);
/// Throws FileError naming the key that is missing, unknown or out of range. `where` is the file's name.
ModelConfig model_config_from_json(const std::string& json, const std::string& where);

}  // namespace molgraph
