// Shares of a blend, chosen by the validation part; and whether a partner that has learned that part may be used.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "apps/training/metrics.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// The shares [K][T] of two or three predictors, of each target their posterior mean. Before any label, all shares that
/// sum to 1 are equally likely, on a grid of step 0.05. Each of `labels` [n, T] counts as a quarter of an observation
/// (a tempered likelihood: Gruenwald 2012, "The safe Bayesian"), so few rows leave predictors that are about equally
/// good near equal shares, and many give the best mixture. The likelihood is that of Laplace's distribution if the
/// metric is mae, else of the normal one, both with the scale that fits best (a profile likelihood); of classes the
/// labels' probability, whatever the metric. `predictions` [K][n, outputs]. With labels of one class alone, which show
/// who is surer and not who is right, or without a label, shares are equal.
std::vector<std::vector<double>> choose_shares(Metric metric, const Task& task,
                                               const std::vector<std::vector<double>>& predictions,
                                               const std::vector<double>& labels);

/// Why a partner that was made again, with more molecules, is not used; "" where it is. It is not where one of its
/// predictions is not finite, or where a target has labels in both parts and
/// - its mean loss on the training part is more than 1.5 times that of the partner made of the training part alone,
/// - the mean of the paired differences is more than three standard errors, and
/// - its mean loss on the training part, which it has learned, is larger than the other's median loss on the validation
///   part, which that one has not learned. So a partner that learns a sample of its molecules, or learns them by heart,
///   is not rejected because there are more of them.
/// The loss is that of choose_shares(). Predictions are [n, outputs], labels [n, T].
struct RefitCheck {
  const std::vector<double>&before_train, &before_valid;  ///< of the partner made of the training part alone
  const std::array<std::vector<double>, 3>& after;        ///< of the one made again: of the training part, and others
  const std::vector<double>&train_labels, &valid_labels;
};
std::string why_refit_is_rejected(Metric metric, const Task& task, const RefitCheck& check);

}  // namespace molgraph
