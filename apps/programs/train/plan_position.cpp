#include "apps/programs/train/plan_position.hpp"

#include <algorithm>

namespace molgraph {
namespace {

/// If less than this fraction of a task is done, its pace is unknown.
constexpr double kMinShare = 0.02;

}  // namespace

void PlanPosition::begin(const std::string& what, double now) {
  if (running_) end(now);
  const auto next = std::find_if(tasks_.begin() + static_cast<std::ptrdiff_t>(current_), tasks_.end(),
                                 [&](const PlannedWork& task) { return task.what == what; });
  if (next == tasks_.end()) return;
  current_ = static_cast<std::size_t>(next - tasks_.begin());
  running_ = true;
  share_ = 0;
  start_ = now_ = now;
}

void PlanPosition::advance(double share, double now) {
  if (!running_) return;
  share_ = std::clamp(share, 0.0, 1.0);
  now_ = now;
}

void PlanPosition::end(double now) {
  if (!running_) return;
  Observed& observed = ended_[tasks_[current_].what];
  observed.planned += share_ * tasks_[current_].seconds;
  observed.taken += now - start_;
  running_ = false;
  share_ = 0;
  ++current_;
}

double PlanPosition::share() const {
  double all = 0, done = 0;
  for (std::size_t k = 0; k < tasks_.size(); ++k) {
    all += tasks_[k].seconds;
    done += tasks_[k].seconds * (k < current_ ? 1.0 : k == current_ ? share_ : 0.0);
  }
  return all > 0 ? done / all : 1;
}

double PlanPosition::seconds_left() const {
  double left = 0;
  for (std::size_t k = current_; k < tasks_.size(); ++k)
    left += tasks_[k].seconds * (k == current_ ? 1 - share_ : 1.0) * pace(tasks_[k].what);
  return left;
}

double PlanPosition::pace(const std::string& what) const {
  Observed observed;
  if (const auto found = ended_.find(what); found != ended_.end()) observed = found->second;
  if (running_ && tasks_[current_].what == what && share_ >= kMinShare) {
    observed.planned += share_ * tasks_[current_].seconds;
    observed.taken += now_ - start_;
  }
  return observed.planned > 0 ? observed.taken / observed.planned : 1;
}

}  // namespace molgraph
