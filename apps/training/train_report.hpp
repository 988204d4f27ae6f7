// The table at the end of a training run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/training/evaluate.hpp"
#include "apps/training/train_options.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Predictions [n, outputs] for the three parts, in the order train, valid, test.
using PartPredictions = std::array<std::vector<double>, 3>;
std::array<const std::vector<std::int64_t>*, 3> parts_of(const Split& split);

/// Writes results.csv and prints train, valid and test with n and the metrics, the mean predictor beside regressions, targets
/// that were skipped, and for a recipe the paper's band.
/// Returns the chosen metric of the three parts, NaN where there is none.
std::array<double, 3> report_results(const std::string& folder, const LoadedData& data, const TrainOptions& options,
                    const PartPredictions& predictions);

/// The metric of the three parts if one always said what the training part's targets are on average (of classes: how frequent they are); it
/// tells whether a model learned anything. NaN where there is none.
std::array<double, 3> baseline_of(const LoadedData& data, const std::string& metric);

/// Cross-validation: results.csv and a table with a line per fold, their mean and their standard deviation (of the sample).
void report_folds(const std::string& folder, const std::string& metric, const std::vector<std::array<double, 3>>& folds);

}  // namespace molgraph
