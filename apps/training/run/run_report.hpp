// report.json and report.html of a run, written after all its other files.
#pragma once

#include <string>
#include <vector>

#include "apps/training/run/predictions.hpp"
#include "apps/training/run/run_calibration.hpp"
#include "apps/training/run/run_options.hpp"
#include "apps/training/run/train_report.hpp"
#include "apps/training/run/train_run.hpp"

namespace molgraph {

/// Report contents for one split.
struct SplitReportInputs {
  const AllPredictions& predictions;            ///< predictions of the run
  const std::vector<ComparedMethod>& compared;  ///< other methods for comparison
  const Difficulty& difficulty;                 ///< of the intervals
  std::vector<MethodResults> members;           ///< results_of_members()
  std::string recipe;                           ///< Report::recipe
};

/// Results of each ensemble member alone on the test set, without one on the validation set. Empty for a single model
/// and with --no-report. `same_parts`: all members share the split's validation set; otherwise only the test set is
/// evaluated. Throws Stopped.
std::vector<MethodResults> results_of_members(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                                              const Split& split, const std::vector<AllPredictions>& models,
                                              bool same_parts);

/// Writes the report of one split. With --no-report, writes nothing and removes an earlier report. If the report fails,
/// the function only warns, because the run is complete without it. Throws Stopped.
void report_split(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                  const SplitReportInputs& inputs, const std::string& folder);

/// Writes the report over all folds in `folder`, from the reports of the folds. Otherwise like report_split().
void report_folds_page(const TrainRun& run, const ResolvedRun& resolved, const std::string& folder);

}  // namespace molgraph
