#include "apps/training/baselines/shares.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

constexpr int kSteps = 20;                ///< shares 0, 0.05, ... 1
constexpr double kMinProbability = 1e-6;  ///< lower limit for logarithms
/// Mean losses below this fraction of the worst mixture's loss count as equal, so that the likelihood of an exact
/// predictor is finite.
constexpr double kMinRelativeLoss = 1e-6;
/// Fraction of an observation that a label counts as in the choice of shares (docs/development/accuracy.md).
constexpr double kEvidence = 0.25;
/// Limits beyond which a partner of the second fit is rejected.
constexpr double kMaxLossRatio = 1.5, kMaxStandardErrors = 3;

/// Returns one target's columns [n, count] of [n, width].
std::vector<double> columns_of(const std::vector<double>& rows, std::size_t width, std::size_t begin,
                               std::size_t count) {
  std::vector<double> columns;
  columns.reserve(rows.size() / width * count);
  for (std::size_t i = begin; i < rows.size(); i += width) columns.insert(columns.end(), &rows[i], &rows[i] + count);
  return columns;
}

/// Returns the number of different labels.
std::size_t classes_in(const std::vector<double>& labels) {
  std::set<double> different;
  for (const double label : labels)
    if (!std::isnan(label)) different.insert(label);
  return different.size();
}

/// The losses of a predictor on the labelled rows.
struct Candidate {
  std::vector<double> losses;
  double mean = 0;
};

/// Returns the predicted number, or the predicted probability of the label. `row` are one target's outputs.
double predicted_value(TaskKind kind, const double* row, double label) {
  if (kind == TaskKind::regression) return row[0];
  if (kind == TaskKind::multiclass) return row[static_cast<std::size_t>(label)];
  return label > 0.5 ? row[0] : 1 - row[0];
}

/// Returns the absolute or squared error, depending on the metric; for classification, the log-loss.
double loss_of(Metric metric, TaskKind kind, double predicted, double label) {
  if (kind != TaskKind::regression) return -std::log(std::max(predicted, kMinProbability));
  const double error = predicted - label;
  return metric == Metric::mae ? std::abs(error) : error * error;
}

/// Returns predicted_value() [labelled rows] from one target's outputs [n, outputs].
std::vector<double> predicted_values(const BlendTarget& target, const std::vector<double>& rows,
                                     const std::vector<double>& labels) {
  const auto outputs = static_cast<std::size_t>(target.classes);
  std::vector<double> predicted;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!std::isnan(labels[i])) predicted.push_back(predicted_value(target.kind, &rows[i * outputs], labels[i]));
  return predicted;
}

/// Returns the losses [labelled rows] from one target's outputs [n, outputs].
std::vector<double> losses_of(Metric metric, const BlendTarget& target, const std::vector<double>& rows,
                              std::vector<double> labels) {
  std::vector<double> losses = predicted_values(target, rows, labels);
  std::erase_if(labels, [](double label) { return std::isnan(label); });
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = loss_of(metric, target.kind, losses[i], labels[i]);
  return losses;
}

double mean_loss(const std::vector<double>& losses) {
  double mean = 0;
  for (const double loss : losses) mean += loss / static_cast<double>(losses.size());
  return mean;
}

/// Returns mean and standard error of the differences between the losses of `one` and `best`.
std::pair<double, double> excess(const Candidate& one, const Candidate& best) {
  const auto n = static_cast<double>(best.losses.size());
  const double mean = one.mean - best.mean;
  double squares = 0;
  for (std::size_t i = 0; i < best.losses.size(); ++i) {
    const double delta = one.losses[i] - best.losses[i] - mean;
    squares += delta * delta;
  }
  return {mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : std::abs(mean)};
}

/// Returns the log-likelihood of `labels` labels with this mean loss, up to a constant: for log-losses, minus their
/// sum; for errors, that of the Laplace (absolute) or normal (squared) distribution with the best-fitting scale.
double log_likelihood(Metric metric, TaskKind kind, double mean, double labels) {
  if (kind != TaskKind::regression) return -labels * mean;
  return -labels * std::log(mean) / (metric == Metric::mae ? 1 : 2);
}

using Mixture = std::array<double, 3>;

/// Returns all shares of two or three predictors that are multiples of 1/kSteps and sum to 1.
std::vector<Mixture> all_mixtures(std::size_t predictors) {
  assert(predictors == 2 || predictors == 3);
  std::vector<Mixture> mixtures;
  for (int second = 0; second <= kSteps; ++second)
    for (int third = 0; third <= (predictors == 3 ? kSteps - second : 0); ++third)
      mixtures.push_back({static_cast<double>(kSteps - second - third) / kSteps, static_cast<double>(second) / kSteps,
                          static_cast<double>(third) / kSteps});
  return mixtures;
}

/// Returns the mean loss of a mixture of the predictions for `labels`.
double loss_of_mixture(Metric metric, TaskKind kind, const std::vector<std::vector<double>>& predicted,
                       const Mixture& shares, const std::vector<double>& labels) {
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double mixed = 0;
    for (std::size_t k = 0; k < predicted.size(); ++k)
      if (shares[k] > 0) mixed += shares[k] * predicted[k][i];
    sum += loss_of(metric, kind, mixed, labels[i]);
  }
  return sum / static_cast<double>(labels.size());
}

/// Returns the posterior weight of each mixture from its mean loss on `labels` labels; 0 if the loss is not finite.
std::vector<double> posterior(Metric metric, TaskKind kind, const std::vector<double>& losses, double labels) {
  double worst = 0, best = -std::numeric_limits<double>::infinity();
  for (const double loss : losses)
    if (std::isfinite(loss)) worst = std::max(worst, loss);
  std::vector<double> weights;
  for (const double loss : losses) {
    const double bounded = std::max({loss, kMinRelativeLoss * worst, std::numeric_limits<double>::min()});
    weights.push_back(std::isfinite(loss) ? kEvidence * log_likelihood(metric, kind, bounded, labels)
                                          : -std::numeric_limits<double>::infinity());
    best = std::max(best, weights.back());
  }
  for (double& weight : weights) weight = std::isfinite(best) ? std::exp(weight - best) : 1;
  return weights;
}

}  // namespace

std::vector<std::vector<double>> choose_shares(Metric metric, const Task& task,
                                               const std::vector<std::vector<double>>& predictions,
                                               const std::vector<double>& labels) {
  const std::size_t width = static_cast<std::size_t>(task.num_outputs());
  const std::vector<Mixture> mixtures = all_mixtures(predictions.size());
  std::vector<std::vector<double>> shares(predictions.size());
  std::size_t t = 0, begin = 0;  // the target, and its first column of the predictions
  for (const BlendTarget& target : blend_targets(task)) {
    const auto outputs = static_cast<std::size_t>(target.classes);
    std::vector<double> target_labels = columns_of(labels, task.names.size(), t++, 1);
    std::vector<std::vector<double>> predicted;
    for (const auto& rows : predictions)
      predicted.push_back(predicted_values(target, columns_of(rows, width, begin, outputs), target_labels));
    begin += outputs;
    std::erase_if(target_labels, [](double label) { return std::isnan(label); });
    if (target.kind != TaskKind::regression && classes_in(target_labels) < 2) target_labels.clear();
    std::vector<double> losses(mixtures.size());
    for (std::size_t m = 0; m < mixtures.size() && !target_labels.empty(); ++m)
      losses[m] = loss_of_mixture(metric, target.kind, predicted, mixtures[m], target_labels);
    const std::vector<double> weights =
        posterior(metric, target.kind, losses, static_cast<double>(target_labels.size()));
    double sum = 0;
    Mixture mean{};
    for (std::size_t m = 0; m < mixtures.size(); ++m) {
      sum += weights[m];
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += weights[m] * mixtures[m][k];
    }
    for (std::size_t k = 0; k < shares.size(); ++k) shares[k].push_back(mean[k] / sum);
  }
  return shares;
}

std::string why_refit_is_rejected(Metric metric, const Task& task, const RefitCheck& check) {
  for (const std::vector<double>& part : check.after)
    if (!std::ranges::all_of(part, [](double value) { return std::isfinite(value); }))
      return "one of its predictions is not finite";
  const auto width = static_cast<std::size_t>(task.num_outputs());
  std::size_t t = 0, begin = 0;
  for (const BlendTarget& target : blend_targets(task)) {
    const auto outputs = static_cast<std::size_t>(target.classes);
    const auto losses = [&](const std::vector<double>& rows, const std::vector<double>& labels) {
      return losses_of(metric, target, columns_of(rows, width, begin, outputs),
                       columns_of(labels, task.names.size(), t, 1));
    };
    Candidate before{losses(check.before_train, check.train_labels), 0},
        after{losses(check.after[0], check.train_labels), 0};
    std::vector<double> unseen = losses(check.before_valid, check.valid_labels);
    begin += outputs, ++t;
    if (unseen.empty() || before.losses.empty()) continue;
    before.mean = mean_loss(before.losses), after.mean = mean_loss(after.losses);
    const auto median = unseen.begin() + static_cast<std::ptrdiff_t>(unseen.size() / 2);
    std::nth_element(unseen.begin(), median, unseen.end());
    const auto [more, error] = excess(after, before);
    if (after.mean > kMaxLossRatio * before.mean && more > kMaxStandardErrors * error && after.mean > *median)
      return "its mean loss on the training set is " + sensible_number(after.mean) + " for '" + target.name +
             "', compared with " + sensible_number(before.mean) + " for the one trained without the validation set";
  }
  return {};
}

}  // namespace molgraph
