// Checks for loading options that would do nothing: each throws UsageError.
#pragma once

#include "datasets/catalogue/catalogue.hpp"
#include "datasets/load_options.hpp"

namespace molgraph {

/// For a store, whose columns, molecules and features are fixed.
void check_store_options(const LoadOptions& options);
/// For named data sets and tables. `named`: the input is a named data set.
void check_plan_options(const LoadOptions& options, const SourcePlan& plan, bool named);
/// `fixed`: why --split-sizes would do nothing; "" = the sizes are used.
void check_split_sizes(const LoadOptions& options, const std::string& fixed);

}  // namespace molgraph
