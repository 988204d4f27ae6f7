// The CUDA engine's speed: milliseconds per update, molecules per second, launches and time by kernel.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/models.hpp"

namespace molgraph::bench {

struct GpuOptions {
  int number = 0;        ///< device number
  int batch_size = 256;  ///< the wide models take four times as many
  double dropout = 0.1;
  int rounds = 7;
  std::string precision;  ///< fp32, tf32 or bf16; empty = all
};

/// Measures with batches that stay on the device, and prints a table. After each new figure, calls `report` with all
/// figures so far, of the GPU and by case and precision. Throws DeviceError.
void measure_gpu(const GpuOptions& options, const std::vector<Case>& cases, const MoleculeSet& set,
                 const std::vector<std::int64_t>& molecules, const std::function<void(const nlohmann::json&)>& report);

}  // namespace molgraph::bench
