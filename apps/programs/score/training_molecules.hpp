// The nearest training molecule in embedding space: how far a molecule lies from what a model has seen.
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

/// Embeds the molecules of a store or a table (pooling token, last layer); rows without a molecule are left out.
/// Threads 0 = all cores. Throws FileError and DataError as readers do, DataError if no molecule is left.
TrainingMolecules embed_training_molecules(const std::string& path, const Predictor& predictor, int threads);

}  // namespace molgraph
