#include "apps/training/loop/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace molgraph {
namespace {

/// Returns true if the metric is an error in the unit of the target, and defined for at least two targets.
bool has_units(Metric metric, const Task& task, const std::vector<double>& targets) {
  if (metric != Metric::mae && metric != Metric::rmse) return false;
  const std::vector<double> zeros(targets.size() / task.names.size() * static_cast<std::size_t>(task.num_outputs()));
  const std::vector<double> each = evaluate_metric(metric, task, zeros, targets).per_target;
  return std::ranges::count_if(each, [](double value) { return !std::isnan(value); }) > 1;
}

}  // namespace

Validation::Validation(Metric metric, const Losses& loss, const Task& task, std::vector<double> targets,
                       const std::vector<double>& scale, std::vector<double> weights)
    : metric_(metric), loss_(loss), task_(task), targets_(std::move(targets)), scale_(scale),
      weights_(std::move(weights)), reason_(why_no_metric(metric, task, targets_)),
      guide_(reason_.empty() ? Guide::metric : Guide::loss) {
  if (guide_ == Guide::metric && has_units(metric, task, targets_)) guide_ = Guide::relative;
  if (std::ranges::all_of(targets_, [](auto target) { return std::isnan(target); })) guide_ = Guide::none;
}

std::string Validation::name() const {
  if (by_loss()) return "loss";
  return (guide_ == Guide::relative ? "relative-" : "") + std::string(to_string(metric_));
}

std::string Validation::columns() const {
  return "valid_" + (by_loss() ? std::string(to_string(metric_)) + ",valid_loss" : name());
}

std::string Validation::warning() const {
  if (!by_loss()) return {};
  return "the validation set has no " + std::string(to_string(metric_)) + " (" + reason_ +
         "): the validation loss selects the best epoch";
}

double Validation::value(const std::vector<double>& predictions) const {
  if (by_loss() || metric_ == Metric::loss)
    return loss_of_predictions(loss_, task_, predictions, targets_, scale_, weights_);
  const MetricResult result = evaluate_metric(metric_, task_, predictions, targets_);
  if (guide_ != Guide::relative) return result.value;
  double sum = 0, measured = 0;
  for (std::size_t t = 0; t < result.per_target.size(); ++t) {
    if (std::isnan(result.per_target[t])) continue;
    sum += result.per_target[t] / scale_[t];
    measured += 1;
  }
  return measured > 0 ? sum / measured : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace molgraph
