// Plan of a run and estimate of its duration on this machine, logged once, after the first update has been timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/baselines/baselines.hpp"
#include "apps/training/run/run_options.hpp"
#include "apps/training/run/train_run.hpp"

namespace molgraph {

class RunPlan {
 public:
  /// Lists the work of `resolved` on all splits of the data, in the order of run_training(). `baselines`: seconds for
  /// one split; zeros if there are none. Work that checkpoints mark as done costs nothing. Stores references to the
  /// first two arguments.
  RunPlan(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const BaselineSeconds& baselines);

  bool logged() const { return logged_; }
  /// Passes the plan to the run's control and logs the estimated duration, given the seconds per update.
  void log(double step_seconds);

 private:
  struct Work {
    std::string what;
    double seconds = 0;      ///< without updates and predictions
    double updates = 0;      ///< duration, in update steps
    std::int64_t steps = 0;  ///< remaining update steps of a training
  };
  void add_split(const LoadedData& data, const Split& split, const std::string& folder);
  /// `whole_epochs`: the number of steps follows from the epochs, as in for_fold().
  void add_training(const Split& split, const std::string& folder, bool whole_epochs);
  void add_predictions(const Split& split);
  void add_baselines(std::size_t splits);
  void add_domain(std::int64_t molecules);
  std::string estimate(const std::vector<PlannedWork>& planned, double step_seconds) const;

  const TrainRun& run_;
  const ResolvedRun& resolved_;
  const BaselineSeconds baselines_;
  const std::int64_t updates_per_epoch_;  ///< of resolved_.trainer
  std::vector<Work> all_work_;
  bool logged_ = false;
};

}  // namespace molgraph
