// All that a run will do, and how long it takes here: one estimate, told when the first update has been timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/baselines/baselines.hpp"
#include "apps/training/run_options.hpp"
#include "apps/training/train_run.hpp"

namespace molgraph {

class RunPlan {
 public:
  /// The works of `resolved` on all splits of the data, in the order in which run_training() does them. `baselines`:
  /// what they cost on one split; zeros where there are none. What checkpoints say is done costs nothing. Keeps
  /// references to the first two.
  RunPlan(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const BaselineSeconds& baselines);

  bool told() const { return told_; }
  /// Tells the run's control the plan and says in its log how long the run takes, if one update takes so many seconds.
  void tell(double step_seconds);

 private:
  struct Work {
    std::string what;
    double seconds = 0;      ///< but for updates and predictions
    double updates = 0;      ///< as many updates as it takes the time of
    std::int64_t steps = 0;  ///< that are left of a training
  };
  void add_split(const LoadedData& data, const Split& split, const std::string& folder);
  /// `whole_epochs`: as for_fold() has them.
  void add_training(const Split& split, const std::string& folder, bool whole_epochs);
  void add_predictions(const Split& split);
  void add_baselines(std::size_t rounds);
  void add_domain(std::int64_t molecules);
  std::string estimate(const std::vector<PlannedWork>& works, double step_seconds) const;

  const TrainRun& run_;
  const ResolvedRun& resolved_;
  const BaselineSeconds baselines_;
  const std::int64_t updates_of_epoch_;  ///< of resolved_.trainer
  std::vector<Work> works_;
  bool told_ = false;
};

}  // namespace molgraph
