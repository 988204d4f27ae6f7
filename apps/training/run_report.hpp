// report.json and report.html of a run, made when everything else of it is written.
#pragma once

#include <string>
#include <vector>

#include "apps/training/predictions.hpp"
#include "apps/training/run_calibration.hpp"
#include "apps/training/run_options.hpp"
#include "apps/training/train_report.hpp"
#include "apps/training/train_run.hpp"

namespace molgraph {

/// What is said of one split.
struct SplitSays {
  const AllPredictions& predictions;   ///< of the run
  const std::vector<Rival>& rivals;    ///< what stands beside it
  const Disagreement& disagreement;    ///< of an ensemble's models
  std::vector<MethodResults> members;  ///< results_of_members()
  std::string recipe;                  ///< Report::recipe
};

/// What each model of an ensemble reaches alone on the part that is judged; nothing of one model, or with --no-report.
/// `same_parts`: all have the split's validation part; else only a test part is measured. Throws Stopped.
std::vector<MethodResults> results_of_members(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                                              const std::vector<AllPredictions>& models, bool same_parts);

/// Of one split. Writes nothing with --no-report, and takes away what an earlier training left. A report that cannot be
/// made is a warning: the run is whole without it. Throws Stopped.
void report_split(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const SplitSays& says,
                  const std::string& folder);

/// The page over all folds of `folder`, from the folds' own; as report_split().
void report_folds_page(const TrainRun& run, const ResolvedRun& resolved, const std::string& folder);

}  // namespace molgraph
