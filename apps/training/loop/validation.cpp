#include "apps/training/loop/validation.hpp"

#include <algorithm>
#include <cmath>

namespace molgraph {
namespace {

/// Returns the targets for which an error in their unit is defined; empty for other metrics.
std::vector<std::size_t> targets_with_error(Metric metric, const Task& task, const std::vector<double>& targets) {
  if (metric != Metric::mae && metric != Metric::rmse) return {};
  const std::vector<double> zeros(targets.size() / task.names.size() * static_cast<std::size_t>(task.num_outputs()));
  const std::vector<double> each = evaluate_metric(metric, task, zeros, targets).per_target;
  std::vector<std::size_t> found;
  for (std::size_t t = 0; t < each.size(); ++t)
    if (!std::isnan(each[t])) found.push_back(t);
  return found;
}

}  // namespace

Validation::Validation(Metric metric, const Losses& loss, const Task& task, std::vector<double> targets,
                       const std::vector<double>& scale, std::vector<double> weights)
    : metric_(metric), loss_(loss), task_(task), targets_(std::move(targets)), scale_(scale),
      weights_(std::move(weights)), with_error_(targets_with_error(metric, task, targets_)),
      reason_(why_no_metric(metric, task, targets_)), guide_(reason_.empty() ? Guide::metric : Guide::loss) {
  const bool scaled = std::ranges::any_of(with_error_, [this](std::size_t t) { return scale_[t] != 1.0; });
  if (guide_ == Guide::metric && with_error_.size() > 1 && scaled) guide_ = Guide::relative;
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
  double sum = 0;
  for (const std::size_t t : with_error_) sum += result.per_target[t] / scale_[t];
  return sum / static_cast<double>(with_error_.size());
}

}  // namespace molgraph
