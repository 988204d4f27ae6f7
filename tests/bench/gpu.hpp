// The CUDA engine's speed: milliseconds per update, molecules per second, launches and time by kernel.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/models.hpp"

namespace molgraph::bench {

struct GpuOptions {
  int number = 0;        ///< of the device
  int batch_size = 256;  ///< the wide models take four times as many
  double dropout = 0.1;
  int rounds = 7;
  std::string precision;  ///< fp32, tf32 or bf16; empty = all
};

/// Batches stay on the device. Prints a table and hands out all figures so far, of the card itself and by case and
/// precision, as soon as there are new ones. Throws DeviceError.
void measure_gpu(const GpuOptions& options, const std::vector<Case>& cases, const MoleculeSet& set,
                 const std::vector<std::int64_t>& molecules, const std::function<void(const nlohmann::json&)>& report);

}  // namespace molgraph::bench
