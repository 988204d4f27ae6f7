// The table at the end of a training.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apps/scoring/run_record.hpp"
#include "apps/training/metrics.hpp"
#include "apps/training/predictions.hpp"
#include "apps/training/train_options.hpp"
#include "datasets/load.hpp"

namespace molgraph {

inline constexpr const char *kTreesName = "trees", *kProcessName = "Gaussian process";

/// Somebody else's predictions of the same split, which the report sets beside the model's.
struct Rival {
  std::string name;    ///< for people: "nearest neighbour"
  std::string column;  ///< in results.csv and run.json: "nearest_neighbour"
  PartPredictions predictions;
  bool own = false;  ///< a part of what is reported itself: it is no news that it is better
};

/// The chosen metric of train, valid and test, NaN where there is none.
using Reached = std::array<double, 3>;

struct Report {
  std::string csv;   ///< results.csv
  std::string text;  ///< the same for people: a table and notes
  Reached reached;
  std::vector<std::pair<std::string, Reached>> baselines;  ///< the rivals' by Rival::column
  std::vector<KindQuality> valid;                          ///< of a corpus with labels: quality_by_kind()
  std::string recipe;                                      ///< its name and what it is known to reach; or ""
  std::string warning;                                     ///< a baseline predicts the validation part better; or ""
};

/// `options`: resolved. Train, valid and test with n and the metrics, the mean predictor beside regressions and beside
/// rivals, the rivals, targets that were skipped, and for a recipe the paper's band.
Report report_results(const LoadedData& data, const TrainOptions& options, const PartPredictions& predictions,
                      const std::vector<Rival>& rivals = {});

/// Of cross-validation: a line per fold, their mean and their standard deviation (of the sample), of the model and of
/// the baselines that every fold has.
Report report_folds(Metric metric, const std::vector<Report>& folds);

/// The metric of the three parts if one always said what the training part's targets are on average (of classes: how
/// frequent they are); it tells whether a model learned anything. NaN where there is none. `options`: resolved.
std::array<double, 3> baseline_of(const LoadedData& data, const TrainOptions& options);

}  // namespace molgraph
