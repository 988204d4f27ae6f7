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

/// With Graphormer + URPE, 12 x 80, random weights, and the molecules of `loaded`; `data` is its name for
/// molgraph-train. The programs stand in the folder `programs`. Without RDKit there is nothing to measure: empty.
std::vector<Figure> measure_programs(const LoadedData& loaded, const std::string& data, const std::string& programs,
                                     int threads, int rounds);

}  // namespace molgraph::bench
