// Selects the best epoch by the metric on the validation set or, if it is undefined, by the loss. If several targets
// have an MAE or RMSE, each is first divided by the scale of its target in the model (relative metric), because the
// targets may have different units.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/loop/loss.hpp"
#include "apps/training/loop/metrics.hpp"

namespace molgraph {

class Validation {
 public:
  /// `targets` [n, T] of the validation set, may be empty; `scale` [outputs] of the regression targets in the model;
  /// `weights` as in loss_of_predictions().
  Validation(Metric metric, const Losses& loss, const Task& task, std::vector<double> targets,
             const std::vector<double>& scale, std::vector<double> weights = {});

  /// False if the validation set has no labels. The last weights are then used.
  bool possible() const { return guide_ != Guide::none; }
  /// True if the metric is undefined on the validation set (one class only, a constant target) and the loss is used.
  bool by_loss() const { return guide_ == Guide::loss; }
  /// "mae" ..., "relative-mae", "relative-rmse" or "loss".
  std::string name() const;
  /// Returns the names of the columns of metrics.csv, "valid_mae" or, by the loss, "valid_roc-auc,valid_loss".
  std::string columns() const;
  /// Warning with the reason if the loss is used instead of the metric; otherwise "".
  std::string warning() const;
  /// Metric, relative metric or loss of predictions [n, outputs], which are in the targets' units. NaN if a prediction
  /// is not finite.
  double value(const std::vector<double>& predictions) const;
  bool better(double a, double b) const { return !by_loss() && larger_is_better(metric_) ? a > b : a < b; }

 private:
  enum class Guide : std::uint8_t { metric, relative, loss, none };

  Metric metric_;
  Losses loss_;
  const Task& task_;
  std::vector<double> targets_, scale_, weights_;
  std::vector<std::size_t> with_error_;  ///< targets that have an MAE or RMSE, if that is the metric
  std::string reason_;                   ///< why there is no metric
  Guide guide_;
};

}  // namespace molgraph
