// RUN/gaussian_process.safetensors: the Gaussian process of a run (docs/reference/blend.md describes the arrays).
#pragma once

#include <string>

#include "apps/scoring/gaussian_process.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

inline constexpr const char* kProcessFile = "gaussian_process.safetensors";

/// Writes equal bytes for equal processes. Atomic. `featurizer`: of the run. Throws FileError.
void write_process(const std::string& path, const GaussianProcess& process, const FeaturizerOptions& featurizer);

/// Throws FileError if the file is missing, damaged (process_problem), of a later version, or belongs to another task
/// or featuriser than the model's.
GaussianProcess read_process(const std::string& path, const Task& task, const FeaturizerOptions& featurizer);

}  // namespace molgraph
