// Where a run's training molecules put its predictions.
#pragma once

#include <vector>

#include "apps/scoring/domain.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// Fills Prediction::domain of rows that are ok, from their embeddings (those of the domain's space). `molecules` have
/// fingerprints.
void add_places(const DomainIndex& domain, const std::vector<FeaturizeResult>& molecules, int threads,
                std::vector<Prediction>& predictions);

}  // namespace molgraph
