// RUN/trees.safetensors: the trees of a run (docs/reference/blend.md describes the arrays).
#pragma once

#include <string>

#include "apps/scoring/trees.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

inline constexpr const char* kTreesFile = "trees.safetensors";

/// Writes equal bytes for equal trees. Atomic. `featurizer`: of the run. Throws FileError.
void write_trees(const std::string& path, const Trees& trees, const FeaturizerOptions& featurizer);

/// Throws FileError if the file is missing, damaged (trees_problem), of a later version, or belongs to another task or
/// featuriser than the model's.
Trees read_trees(const std::string& path, const Task& task, const FeaturizerOptions& featurizer);

}  // namespace molgraph
