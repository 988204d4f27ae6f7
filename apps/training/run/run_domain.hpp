// Applicability domain of a run (apps/scoring/domain.hpp), computed from its training molecules at the end of training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/run/train_run.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// With more training molecules, no applicability domain is stored.
inline constexpr std::int64_t kMaxDomainMolecules = 200'000;

/// True if a run that is trained on `molecules` molecules stores an applicability domain. False with --no-domain and in
/// pre-training.
bool stores_domain(const TrainRun& run, std::int64_t molecules);

/// Writes domain.safetensors into the run's folder and logs what it contains. Without a domain (stores_domain()),
/// removes an existing file. `learned`: the molecules that any model or partner of the run was trained on. Distances
/// are those of the first model, whose weights must exist. Throws Stopped.
void write_run_domain(const TrainRun& run, const std::string& folder, const MoleculeSet& set,
                      const std::vector<std::int64_t>& learned);

/// Molecules of a split that the run is trained on: the training set and, if `with_valid`, the trainable molecules of
/// the validation set (`with_valid`: with --refit, or if partners of a blend are trained on it).
std::vector<std::int64_t> learned_molecules(const LoadedData& data, const Split& split, bool with_valid);

}  // namespace molgraph
