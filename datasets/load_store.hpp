// Loading a data set that has been featurised into a store.
#pragma once

#include "datasets/load.hpp"

namespace molgraph {

/// options.paths[0] is a store. Chosen targets, split and limit are applied to it; other features than the store's are
/// a UsageError.
LoadedData load_from_store(const LoadOptions& options);

/// Appends what people should know about the set, its targets and its split.
void add_warnings(LoadedData& data, const LoadOptions& options);

}  // namespace molgraph
