// Table of results at the end of training.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apps/scoring/run_record.hpp"
#include "apps/training/loop/metrics.hpp"
#include "apps/training/options/train_options.hpp"
#include "apps/training/run/predictions.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

inline constexpr const char *kTreesName = "trees", *kProcessName = "Gaussian process";

/// Predictions of another method for the same split, which the report compares with those of the model.
struct ComparedMethod {
  std::string name;    ///< display name: "nearest neighbour"
  std::string column;  ///< name in results.csv and run.json: "nearest_neighbour"
  PartPredictions predictions;
  bool is_component = false;  ///< part of the reported model itself: no warning if it is better
};

/// The chosen metric on the training, validation and test set; NaN if undefined.
using MetricValues = std::array<double, 3>;

struct Report {
  std::string csv;   ///< results.csv
  std::string text;  ///< the same as a readable table with notes
  MetricValues reached;
  std::vector<std::pair<std::string, MetricValues>>
      baselines;                   ///< results of the compared methods by ComparedMethod::column
  std::vector<KindQuality> valid;  ///< for a corpus with labels: quality_by_kind()
  std::string recipe;              ///< name and known result of the recipe; or ""
  std::string warning;             ///< a baseline is better on the validation set; or ""
};

/// Report with size and metrics of the training, validation and test set, the compared methods, and skipped targets.
/// Also contains the mean predictor (for regression targets and with compared methods), and the published range for a
/// recipe. `options`: resolved.
Report report_results(const LoadedData& data, const Split& split, const TrainOptions& options,
                      const PartPredictions& predictions, const std::vector<ComparedMethod>& compared = {});

/// Report on cross-validation: one line per fold, mean and sample standard deviation, for the model and for the
/// baselines that all folds have.
Report report_folds(Metric metric, const std::vector<Report>& folds);

/// Metric of the mean predictor on the training, validation and test set. It always predicts the mean of the training
/// labels (for classes their frequencies). A model that is not better has learned nothing. NaN if undefined. `options`:
/// resolved.
std::array<double, 3> baseline_of(const LoadedData& data, const Split& split, const TrainOptions& options);

}  // namespace molgraph
