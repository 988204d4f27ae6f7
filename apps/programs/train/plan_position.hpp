// How far a run has come in its plan, and how long the rest takes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "apps/training/run_control.hpp"

namespace molgraph {

/// Times are seconds of any clock that only goes forward.
class PlanPosition {
 public:
  explicit PlanPosition(std::vector<PlannedWork> works) : works_(std::move(works)) {}

  /// The next work of that name begins: those before it have ended, or are not needed. A name that does not come any
  /// more changes nothing.
  void begin(const std::string& what, double now);
  /// So much of the work that began last is done, from 0 to 1.
  void advance(double share, double now);
  /// That work has ended, however much of it was needed.
  void end(double now);

  /// From 0 to 1, by the estimated seconds.
  double share() const;
  /// Of all that is left. Works take as much longer, or shorter, than they were estimated to as those of the same name
  /// before.
  double seconds_left() const;

 private:
  struct Observed {
    double planned = 0, taken = 0;
  };
  double pace(const std::string& what) const;

  std::vector<PlannedWork> works_;
  std::size_t at_ = 0;   ///< the work that is being done, or is next
  bool inside_ = false;  ///< it has begun
  double share_ = 0;     ///< of it
  double begun_ = 0, now_ = 0;
  std::map<std::string, Observed> ended_;  ///< by name
};

}  // namespace molgraph
