// The table at the end of a training.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/training/metrics.hpp"
#include "apps/training/predictions.hpp"
#include "apps/training/train_options.hpp"
#include "datasets/load.hpp"

namespace molgraph {

struct Report {
  std::string csv;                ///< results.csv
  std::string text;               ///< the same for people: a table and notes
  std::array<double, 3> reached;  ///< the chosen metric of train, valid and test, NaN where there is none
};

/// `options`: resolved. Train, valid and test with n and the metrics, the mean predictor beside regressions, targets
/// that were skipped, and for a recipe the paper's band.
Report report_results(const LoadedData& data, const TrainOptions& options, const PartPredictions& predictions);

/// Of cross-validation: a line per fold, their mean and their standard deviation (of the sample). `folds`:
/// Report::reached of each.
Report report_folds(Metric metric, const std::vector<std::array<double, 3>>& folds);

/// The metric of the three parts if one always said what the training part's targets are on average (of classes: how
/// frequent they are); it tells whether a model learned anything. NaN where there is none. `options`: resolved.
std::array<double, 3> baseline_of(const LoadedData& data, const TrainOptions& options);

}  // namespace molgraph
