#include "apps/training/loop/validation.hpp"

#include <algorithm>
#include <cmath>

namespace molgraph {

Validation::Validation(Metric metric, const Losses& loss, const Task& task, std::vector<double> targets,
                       const std::vector<double>& scale, std::vector<double> weights)
    : metric_(metric), loss_(loss), task_(task), targets_(std::move(targets)), scale_(scale),
      weights_(std::move(weights)), reason_(why_no_metric(metric, task, targets_)),
      guide_(reason_.empty() ? Guide::metric : Guide::loss) {
  if (std::ranges::all_of(targets_, [](auto target) { return std::isnan(target); })) guide_ = Guide::none;
}

std::string Validation::name() const { return by_loss() ? "loss" : std::string(to_string(metric_)); }

std::string Validation::warning() const {
  if (!by_loss()) return {};
  return "the validation set has no " + std::string(to_string(metric_)) + " (" + reason_ +
         "): the validation loss selects the best epoch";
}

double Validation::value(const std::vector<double>& predictions) const {
  if (by_loss() || metric_ == Metric::loss)
    return loss_of_predictions(loss_, task_, predictions, targets_, scale_, weights_);
  return evaluate_metric(metric_, task_, predictions, targets_).value;
}

}  // namespace molgraph
