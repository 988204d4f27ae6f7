// Options of loading that would be read and then do nothing: each is a UsageError.
#pragma once

#include "datasets/catalogue/catalogue.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Of a store, whose columns, molecules and features stand already.
void check_store_options(const LoadOptions& options);
/// Of names and tables. `named`: a data set known by name.
void check_plan_options(const LoadOptions& options, const SourcePlan& plan, bool named);
/// `fixed`: what the split is, in words, where its parts are not drawn by their sizes; "" = they are.
void check_split_sizes(const LoadOptions& options, const std::string& fixed);

}  // namespace molgraph
