// From SMILES to scores: the steps before the model, the scoring class, and whole programs with their memory.
#pragma once

#include <string>
#include <vector>

#include "datasets/load.hpp"

namespace molgraph::bench {

struct Figure {
  std::string name, unit;
  double value = 0;
};

/// Measures Graphormer + URPE, 12 x 80, random weights, on the molecules of `loaded`; `data` is its name for
/// molgraph-train. `programs` is the folder of the programs. Empty in a build without RDKit.
std::vector<Figure> measure_programs(const LoadedData& loaded, const std::string& data, const std::string& programs,
                                     int threads, int rounds);

}  // namespace molgraph::bench
