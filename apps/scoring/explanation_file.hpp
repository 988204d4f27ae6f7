// explanation.safetensors beside a model's weights: what its attributions are measured from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"

namespace molgraph {

inline constexpr const char* kExplanationFile = "explanation.safetensors";

/// The mean of the node input's rows over all atoms of the molecules that a model was trained on.
struct NodeMean {
  std::vector<double> row;  ///< [C]
  std::int64_t molecules = 0, atoms = 0;
};

/// Atomic. Throws FileError.
void write_node_mean(const std::string& path, const NodeMean& mean, const FeaturizerOptions& featurizer);
/// Throws FileError if it is damaged or not one of this model.
NodeMean read_node_mean(const std::string& path, const ModelConfig& config);

/// The file beside a model file; "" if there is none. Throws FileError if the run's record (its own, or that of the
/// ensemble or folds it is one of) says that there must be one.
std::string explanation_file_of(const std::string& weights);

}  // namespace molgraph
