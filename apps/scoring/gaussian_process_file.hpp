// RUN/gaussian_process.safetensors: the Gaussian process of a run (docs/reference/blend.md has the arrays).
#pragma once

#include <string>

#include "apps/scoring/gaussian_process.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

inline constexpr const char* kProcessFile = "gaussian_process.safetensors";

/// Equal bytes for equal processes; atomic. `featurizer`: of the run. Throws FileError.
void write_process(const std::string& path, const GaussianProcess& process, const FeaturizerOptions& featurizer);

/// Throws FileError for a file that is missing, damaged (process_problem), of a later version, or that belongs to
/// another task or featuriser than the model's.
GaussianProcess read_process(const std::string& path, const Task& task, const FeaturizerOptions& featurizer);

}  // namespace molgraph
