// The CUDA engine's speed: milliseconds per update, molecules per second, launches and time by kernel.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/bench/models.hpp"

namespace molgraph::bench {

/// Batches stay on the device. Prints a table and returns the figures: by case and precision, and of the card itself.
nlohmann::json measure_gpu(int number, const std::vector<Case>& cases, const MoleculeSet& set, const std::vector<std::int64_t>& molecules,
                           int batch_size, double dropout, int rounds);

}  // namespace molgraph::bench
