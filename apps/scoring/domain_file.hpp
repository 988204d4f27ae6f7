// domain.safetensors: the training molecules of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/scoring/domain.hpp"
#include "apps/scoring/model_config.hpp"

namespace molgraph {

/// Atomic. Throws FileError.
void write_domain(const std::string& path, const Domain& domain, const FeaturizerOptions& featurizer);
/// Throws FileError if it is missing, damaged or belongs to another model.
Domain read_domain(const std::string& path, const ModelConfig& config);

/// The file of a run directory, "" if there is none (trained without one, stripped runs, model files).
std::string domain_file_of(const std::string& run);

/// The file for a Predictor of `runs`. Throws UsageError if there is none.
std::string domain_file_for(const std::vector<std::string>& runs);

/// Content of the file without its arrays.
struct DomainSummary {
  std::int64_t molecules = 0;
  bool labels = false;  ///< ids, SMILES and true values
};
DomainSummary domain_summary(const std::string& path);

}  // namespace molgraph
