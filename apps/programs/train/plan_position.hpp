// Position of a run in its plan, and the remaining time.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "apps/training/loop/run_control.hpp"

namespace molgraph {

/// Times are seconds of any monotonic clock.
class PlanPosition {
 public:
  explicit PlanPosition(std::vector<PlannedWork> tasks) : tasks_(std::move(tasks)) {}

  /// Begins the next task with this name. All tasks before it have ended or are not needed. Has no effect if no task
  /// with this name remains.
  void begin(const std::string& what, double now);
  /// Sets the fraction of the current task that is done, from 0 to 1.
  void advance(double share, double now);
  /// Ends the current task, even if it is not complete.
  void end(double now);

  /// Fraction of the plan that is done, from 0 to 1, weighted by estimated seconds.
  double share() const;
  /// Estimated seconds for the rest of the plan. Each estimate is scaled by the ratio of actual to estimated time of
  /// earlier tasks with the same name.
  double seconds_left() const;

 private:
  struct Observed {
    double planned = 0, taken = 0;
  };
  double pace(const std::string& what) const;

  std::vector<PlannedWork> tasks_;
  std::size_t current_ = 0;  ///< the current or the next task
  bool running_ = false;     ///< task current_ has begun
  double share_ = 0;         ///< fraction of task current_ that is done
  double start_ = 0, now_ = 0;
  std::map<std::string, Observed> ended_;  ///< key: name
};

}  // namespace molgraph
