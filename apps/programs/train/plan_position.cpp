#include "apps/programs/train/plan_position.hpp"

#include <algorithm>

namespace molgraph {
namespace {

/// If less than this fraction of a task is done, its pace is unknown.
constexpr double kMinShare = 0.02;

}  // namespace

void PlanPosition::begin(const std::string& what, double now) {
  if (inside_) end(now);
  const auto next = std::find_if(works_.begin() + static_cast<std::ptrdiff_t>(at_), works_.end(),
                                 [&](const PlannedWork& work) { return work.what == what; });
  if (next == works_.end()) return;
  at_ = static_cast<std::size_t>(next - works_.begin());
  inside_ = true;
  share_ = 0;
  begun_ = now_ = now;
}

void PlanPosition::advance(double share, double now) {
  if (!inside_) return;
  share_ = std::clamp(share, 0.0, 1.0);
  now_ = now;
}

void PlanPosition::end(double now) {
  if (!inside_) return;
  Observed& observed = ended_[works_[at_].what];
  observed.planned += share_ * works_[at_].seconds;
  observed.taken += now - begun_;
  inside_ = false;
  share_ = 0;
  ++at_;
}

double PlanPosition::share() const {
  double all = 0, done = 0;
  for (std::size_t k = 0; k < works_.size(); ++k) {
    all += works_[k].seconds;
    done += works_[k].seconds * (k < at_ ? 1.0 : k == at_ ? share_ : 0.0);
  }
  return all > 0 ? done / all : 1;
}

double PlanPosition::seconds_left() const {
  double left = 0;
  for (std::size_t k = at_; k < works_.size(); ++k)
    left += works_[k].seconds * (k == at_ ? 1 - share_ : 1.0) * pace(works_[k].what);
  return left;
}

double PlanPosition::pace(const std::string& what) const {
  Observed observed;
  if (const auto found = ended_.find(what); found != ended_.end()) observed = found->second;
  if (inside_ && works_[at_].what == what && share_ >= kMinShare) {
    observed.planned += share_ * works_[at_].seconds;
    observed.taken += now_ - begun_;
  }
  return observed.planned > 0 ? observed.taken / observed.planned : 1;
}

}  // namespace molgraph
