// Adds the distance to the training molecules to predictions.
#pragma once

#include <vector>

#include "apps/scoring/domain.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// Fills Prediction::domain of rows with status ok from their embeddings, which are in the domain's space. `molecules`
/// have fingerprints.
void add_places(const DomainIndex& domain, const std::vector<FeaturizeResult>& molecules, int threads,
                std::vector<Prediction>& predictions);

}  // namespace molgraph
