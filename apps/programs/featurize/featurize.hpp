// Converts tables of molecules to a store of featurised molecules.
#pragma once

#include <string>

#include "datasets/load_options.hpp"

namespace molgraph {

struct FeaturizeOptions {
  LoadOptions load;
  std::string output;     ///< the store
  std::string rejected;   ///< table of rejected rows, which have no graph; "" = none
  std::string repeated;   ///< table of the rows of duplicate molecules; "" = none
  std::string config;     ///< the --config file; "" = none
  bool no_pairs = false;  ///< do not store distances
};

/// Returns the exit code. Throws UsageError, DataError, FileError, Stopped.
int featurize(const FeaturizeOptions& options);

}  // namespace molgraph
