// Loading of a store, that is, a featurised data set.
#pragma once

#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Loads the store options.paths[0] and applies the chosen targets, split and limit. Throws UsageError if the options
/// request other features than the store's.
LoadedData load_from_store(const LoadOptions& options);

/// Appends the warnings and notes about the set, its targets and its split.
void add_warnings(LoadedData& data, const LoadOptions& options);

}  // namespace molgraph
