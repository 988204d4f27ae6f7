// Chooses the shares of a blend on the validation set, and checks partners that were trained on that set too.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "apps/training/loop/metrics.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Returns the shares [K][T] of two or three predictors: for each target, their posterior mean. In the prior, all
/// shares that sum to 1 are equally likely, on a grid of step 0.05. Each of `labels` [n, T] counts as a quarter of an
/// observation (a tempered likelihood: Gruenwald 2012, "The safe Bayesian"). With few rows, predictors of similar
/// quality therefore get nearly equal shares; with many rows, the best mixture dominates. For regression, the
/// likelihood is that of a Laplace distribution if the metric is mae, otherwise that of a normal distribution, both
/// with the best-fitting scale (a profile likelihood). For classification, it is the probability of the labels,
/// whatever the metric. `predictions` is [K][n, outputs]. Without labels, or with only one class, shares are equal:
/// labels of one class show which predictor is more confident, not which is right.
std::vector<std::vector<double>> choose_shares(Metric metric, const Task& task,
                                               const std::vector<std::vector<double>>& predictions,
                                               const std::vector<double>& labels);

/// Predictions and labels for why_refit_is_rejected(). Predictions are [n, outputs], labels [n, T].
struct RefitCheck {
  const std::vector<double>&before_train, &before_valid;  ///< of the partner of the first fit (training set only)
  const std::array<std::vector<double>, 3>& after;  ///< of the second fit's partner: training set, then other sets
  const std::vector<double>&train_labels, &valid_labels;
};
/// Returns the reason why a partner of the second fit, trained on more molecules, is rejected; "" if it is used. It is
/// rejected if one of its predictions is not finite, or if, for a target with labels in both sets,
/// - its mean loss on the training set is more than 1.5 times that of the first fit's partner,
/// - the mean of the paired differences is more than three standard errors, and
/// - its mean loss on the training set exceeds the median loss of the first fit's partner on the validation set, which
///   that partner was not trained on. Without this condition, a partner that is trained on a sample of its molecules,
///   or that memorises them, could be rejected only because there are more molecules.
/// The loss is that of choose_shares().
std::string why_refit_is_rejected(Metric metric, const Task& task, const RefitCheck& check);

}  // namespace molgraph
