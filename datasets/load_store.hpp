// Loading a data set that has been featurised into a store.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/load.hpp"

namespace molgraph {

/// options.paths[0] is a store. Chosen targets, split and limit are applied to it; other features than the store's are
/// a UsageError.
LoadedData load_from_store(const LoadOptions& options);

/// The split that LoadOptions asks for where the source has none of its own (random, scaffold or scaffold-balanced),
/// with its name. `scaffolds` is called only if they are needed.
std::pair<std::string, Split> computed_split(const LoadOptions& options, std::int64_t count,
                                             const std::function<std::vector<std::string>()>& scaffolds);

/// Appends what people should know about the set, its targets and its split.
void add_warnings(LoadedData& data, const LoadOptions& options);

}  // namespace molgraph
