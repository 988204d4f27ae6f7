// Shares of a blend: how much of each of two predictors predicts best on the validation part; and whether a partner
// that has learned that part may be used.
#pragma once

#include <array>
#include <string>
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

/// Predictions [n, outputs] of a model, mixed row by row with a partner's [n, outputs].
void mix_rows(const std::vector<BlendTarget>& partner, const std::vector<double>& of_partner,
              std::vector<double>& predictions);

}  // namespace molgraph
