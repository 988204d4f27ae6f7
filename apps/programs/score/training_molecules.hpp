// Embeddings of training molecules, for the distance to the nearest of them.
#pragma once

#include <string>
#include <vector>

#include "apps/scoring/nearest_rows.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// The training molecules of a run, embedded by its model.
struct TrainingMolecules {
  NearestRows rows;
  std::vector<std::string> ids;  ///< [rows]
};

/// Embeds the molecules of a store or a table (pooling token, last layer) and skips rows without a molecule. `threads`
/// 0 = all cores. Throws FileError and DataError like the readers, and DataError if there are no molecules.
TrainingMolecules embed_training_molecules(const std::string& path, const Predictor& predictor, int threads);

}  // namespace molgraph
