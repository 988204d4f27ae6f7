// explanation.safetensors, next to a model's weights: the baseline of its attributions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"

namespace molgraph {

inline constexpr const char* kExplanationFile = "explanation.safetensors";

/// The mean of the node input's rows over all atoms of a model's training molecules.
struct NodeMean {
  std::vector<double> row;  ///< [C]
  std::int64_t molecules = 0, atoms = 0;
};

/// Atomic. Throws FileError.
void write_node_mean(const std::string& path, const NodeMean& mean, const FeaturizerOptions& featurizer);
/// Throws FileError if it is damaged or belongs to another model.
NodeMean read_node_mean(const std::string& path, const ModelConfig& config);

/// The file in the folder of a model file; "" if there is none. Throws FileError if run.json (of the run, or of the
/// ensemble or folds that it belongs to) requires one.
std::string explanation_file_of(const std::string& weights);

}  // namespace molgraph
