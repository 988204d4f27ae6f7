// What chooses the best epoch: the metric of the validation part, else its loss.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/loss.hpp"
#include "apps/training/metrics.hpp"

namespace molgraph {

class Validation {
 public:
  /// `targets` [n, T] of the validation part, perhaps none; `scale` [outputs] of the regression targets in the model;
  /// `weights` as in loss_of_predictions().
  Validation(Metric metric, const Losses& loss, const Task& task, std::vector<double> targets,
             const std::vector<double>& scale, std::vector<double> weights = {});

  /// False where the part has no target: then the last weights count.
  bool possible() const { return guide_ != Guide::none; }
  /// True where the metric cannot be computed there (one class only, a constant target): the loss stands in for it.
  bool by_loss() const { return guide_ == Guide::loss; }
  /// "mae" ... or "loss".
  std::string name() const;
  /// Why the loss stands in; "" if it does not.
  std::string warning() const;
  /// The number that counts, of predictions [n, outputs] as users see them. NaN if one of them is not finite.
  double value(const std::vector<double>& predictions) const;
  bool better(double a, double b) const { return !by_loss() && larger_is_better(metric_) ? a > b : a < b; }

 private:
  enum class Guide : std::uint8_t { metric, loss, none };

  Metric metric_;
  Losses loss_;
  const Task& task_;
  std::vector<double> targets_, scale_, weights_;
  std::string reason_;  ///< why there is no metric
  Guide guide_;
};

}  // namespace molgraph
