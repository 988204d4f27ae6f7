// Tables of molecules in, a store of featurised ones out.
#pragma once

#include <string>

#include "datasets/load.hpp"

namespace molgraph {

struct FeaturizeOptions {
  LoadOptions load;
  std::string output;     ///< the store
  std::string rejected;   ///< the table of the rows without a graph; "" = none
  std::string repeated;   ///< the table of the rows of repeated molecules; "" = none
  std::string config;     ///< the file of --config; "" = none
  bool no_pairs = false;  ///< the store has no distances
};

/// Returns the exit code. Throws UsageError, DataError, FileError, Stopped.
int featurize(const FeaturizeOptions& options);

}  // namespace molgraph
