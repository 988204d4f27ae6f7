#include "apps/training/baselines/shares.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

constexpr int kSteps = 20;                  ///< shares 0, 0.05, ... 1
constexpr double kLeastProbability = 1e-6;  ///< that a logarithm is taken of
constexpr double kSameShare = 1e-9;
/// One is the usual rule; with it a few dozen rows still choose 0 or 1 now and then (docs/accuracy.md).
constexpr double kStandardErrors = 2;
/// How much worse a partner made again must be to be rejected.
constexpr double kWorseTimes = 1.5, kWorseErrors = 3;

/// [n, count] of [n, width]: one target's columns.
std::vector<double> columns_of(const std::vector<double>& rows, std::size_t width, std::size_t begin,
                               std::size_t count) {
  std::vector<double> own;
  own.reserve(rows.size() / width * count);
  for (std::size_t i = begin; i < rows.size(); i += width) own.insert(own.end(), &rows[i], &rows[i] + count);
  return own;
}

/// How many different labels there are.
std::size_t classes_in(const std::vector<double>& labels) {
  std::set<double> different;
  for (const double label : labels)
    if (!std::isnan(label)) different.insert(label);
  return different.size();
}

/// A way to mix, and what it loses on each labelled row.
struct Candidate {
  double share = 0.5;  ///< of the first
  std::vector<double> losses;
  double mean = 0;
};

/// Absolute or squared error, as the metric has it; of classes the log-loss. `row` are one target's outputs.
double loss_of(Metric metric, TaskKind kind, const double* row, double label) {
  if (kind == TaskKind::regression) {
    const double error = row[0] - label;
    return metric == Metric::mae ? std::abs(error) : error * error;
  }
  const double probability = kind == TaskKind::multiclass ? row[static_cast<std::size_t>(label)]
                             : label > 0.5                ? row[0]
                                                          : 1 - row[0];
  return -std::log(std::max(probability, kLeastProbability));
}

/// [labelled rows] of one target's outputs [n, outputs].
std::vector<double> losses_of(Metric metric, const BlendTarget& target, const std::vector<double>& rows,
                              const std::vector<double>& labels) {
  const auto outputs = static_cast<std::size_t>(target.classes);
  std::vector<double> losses;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!std::isnan(labels[i])) losses.push_back(loss_of(metric, target.kind, &rows[i * outputs], labels[i]));
  return losses;
}

double mean_loss(const std::vector<double>& losses) {
  double mean = 0;
  for (const double loss : losses) mean += loss / static_cast<double>(losses.size());
  return mean;
}

/// Mean and standard error of how much more `one` loses than `best`.
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

/// Of all that lose no more than the best one but for kStandardErrors, the one nearest to a half; of equally near ones
/// the better one.
const Candidate& choose(const std::vector<Candidate>& all) {
  const auto by_mean = [](const Candidate& a, const Candidate& b) { return a.mean < b.mean; };
  const Candidate& best = *std::ranges::min_element(all, by_mean);
  const Candidate* chosen = &best;
  const auto distance = [](const Candidate& one) { return std::abs(one.share - 0.5); };
  for (const Candidate& one : all) {
    const auto [mean, error] = excess(one, best);
    if (mean > kStandardErrors * error) continue;
    const double nearer = distance(*chosen) - distance(one);
    if (nearer > kSameShare || (nearer > -kSameShare && one.mean < chosen->mean)) chosen = &one;
  }
  return *chosen;
}

}  // namespace

void mix_rows(const std::vector<BlendTarget>& partner, const std::vector<double>& of_partner,
              std::vector<double>& predictions) {
  const std::size_t outputs = outputs_of(partner);
  for (std::size_t i = 0; i < predictions.size(); i += outputs) {
    const PartnerPrediction one{partner, {of_partner.data() + i, outputs}};
    blend_predictions({&one, 1}, predictions.data() + i);
  }
}

std::vector<double> choose_shares(Metric metric, const Task& task, const std::vector<double>& first,
                                  const std::vector<double>& second, const std::vector<double>& labels) {
  const std::size_t width = static_cast<std::size_t>(task.num_outputs());
  std::vector<double> shares;
  std::size_t begin = 0;  // of a target's columns of the predictions
  for (BlendTarget target : blend_targets(task)) {
    const auto outputs = static_cast<std::size_t>(target.classes);
    const std::vector<double> own = columns_of(labels, task.names.size(), shares.size(), 1),
                              a = columns_of(first, width, begin, outputs),
                              b = columns_of(second, width, begin, outputs);
    begin += outputs;
    if (target.kind != TaskKind::regression && classes_in(own) < 2) {
      shares.push_back(0.5);
      continue;
    }
    std::vector<Candidate> candidates;
    for (int step = 0; step <= kSteps; ++step) {
      Candidate candidate{static_cast<double>(step) / kSteps, {}, 0};
      target.share = 1 - candidate.share;
      std::vector<double> mixed = a;
      mix_rows({target}, b, mixed);
      candidate.losses = losses_of(metric, target, mixed, own);
      candidate.mean = mean_loss(candidate.losses);
      candidates.push_back(std::move(candidate));
    }
    shares.push_back(choose(candidates).share);
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
    Candidate before{0, losses(check.before_train, check.train_labels), 0},
        after{0, losses(check.after[0], check.train_labels), 0};
    std::vector<double> unseen = losses(check.before_valid, check.valid_labels);
    begin += outputs, ++t;
    if (unseen.empty() || before.losses.empty()) continue;
    before.mean = mean_loss(before.losses), after.mean = mean_loss(after.losses);
    const auto middle = unseen.begin() + static_cast<std::ptrdiff_t>(unseen.size() / 2);
    std::nth_element(unseen.begin(), middle, unseen.end());
    const auto [more, error] = excess(after, before);
    if (after.mean > kWorseTimes * before.mean && more > kWorseErrors * error && after.mean > *middle)
      return "its mean loss on the training part is " + sensible_number(after.mean) + " for '" + target.name + "', " +
             sensible_number(before.mean) + " of the one made without the validation part";
  }
  return {};
}

}  // namespace molgraph
