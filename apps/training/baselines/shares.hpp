// Shares of a blend: how much of each of two predictors predicts best on the validation part.
#pragma once

#include <vector>

#include "apps/scoring/blend.hpp"
#include "apps/training/metrics.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// The share of `first` in its mixture with `second`, for every target: of 21 shares from 0 to 1 with a mean loss on
/// `labels` [n, T] within two standard errors of the least, the one nearest to a half: few rows say little, and halves
/// are wrong by little. (The rule of Breiman et al., 1984, section 3.4.3, with two errors in place of one, and the
/// error of the paired differences.) The loss is the absolute error if the metric is mae, else the squared one; of
/// classes the log-loss, whatever the metric. Both are predictions [n, outputs]. With labels of one class alone, which
/// show who is surer and not who is right, or with one label or none the share is a half.
std::vector<double> choose_shares(Metric metric, const Task& task, const std::vector<double>& first,
                                  const std::vector<double>& second, const std::vector<double>& labels);

/// Predictions [n, outputs] of a model, mixed row by row with a partner's [n, outputs].
void mix_rows(const std::vector<BlendTarget>& partner, const std::vector<double>& of_partner,
              std::vector<double>& predictions);

}  // namespace molgraph
