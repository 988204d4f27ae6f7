#include "apps/training/baselines/blend.hpp"

#include <cmath>

namespace molgraph {
namespace {

constexpr int kSteps = 20;            ///< weights 0, 0.05, ... 1
constexpr double kNearlyBest = 0.01;  ///< of the range of the metric over all weights
constexpr double kRounding = 1e-9;    ///< of a metric

/// One target of a task as a task of its own, with its columns of all that belongs to it.
struct OneTarget {
  Task task;
  std::size_t first = 0, outputs = 1;  ///< its columns of the predictions

  std::vector<double> columns_of(const std::vector<double>& rows, std::size_t width, std::size_t begin,
                                 std::size_t count) const {
    std::vector<double> own;
    own.reserve(rows.size() / width * count);
    for (std::size_t i = begin; i < rows.size(); i += width) own.insert(own.end(), &rows[i], &rows[i] + count);
    return own;
  }
};

/// A way to mix, and the metric with it; larger is better.
struct Candidate {
  double weight = 0.5;
  bool log_odds = false;
  double value = 0;
};

/// The best of all, but rather one near a half than one that is better by chance.
Candidate choose(const std::vector<Candidate>& all) {
  double best = all.front().value, worst = best;
  for (const Candidate& one : all) {
    best = std::max(best, one.value);
    worst = std::min(worst, one.value);
  }
  const double enough = best - std::max(kNearlyBest * (best - worst), kRounding * std::abs(best));
  Candidate chosen;
  double distance = 2;
  for (const Candidate& one : all) {
    if (one.value < enough || std::abs(one.weight - 0.5) >= distance) continue;
    distance = std::abs(one.weight - 0.5);
    chosen = one;
  }
  return chosen;
}

}  // namespace

void mix_rows(const std::vector<TreeTarget>& blend, const std::vector<double>& of_trees,
              std::vector<double>& predictions) {
  std::size_t outputs = 0;
  for (const TreeTarget& target : blend) outputs += static_cast<std::size_t>(target.classes);
  for (std::size_t i = 0; i < predictions.size(); i += outputs)
    mix_predictions(blend, {of_trees.data() + i, outputs}, predictions.data() + i);
}

void choose_blend(Metric metric, const Task& task, const std::vector<std::vector<double>>& models,
                  const std::vector<double>& of_trees, const std::vector<double>& targets,
                  std::vector<TreeTarget>& blend) {
  const std::size_t width = static_cast<std::size_t>(task.num_outputs());
  OneTarget one{task};
  for (std::size_t t = 0; t < blend.size(); ++t) {
    one.outputs = static_cast<std::size_t>(blend[t].classes);
    one.task.names = {task.names[t]};
    one.task.units.assign(1, "");
    one.task.kind = blend[t].kind;
    one.task.kinds.clear();
    const Metric own_metric = fits(metric, blend[t].kind) ? metric : default_metric(blend[t].kind);
    const std::vector<double> labels = one.columns_of(targets, task.names.size(), t, 1),
                              trees = one.columns_of(of_trees, width, one.first, one.outputs);
    std::vector<std::vector<double>> own;
    for (const auto& model : models) own.push_back(one.columns_of(model, width, one.first, one.outputs));
    one.first += one.outputs;
    std::vector<Candidate> candidates;
    for (const bool log_odds : {false, true}) {
      if (log_odds && blend[t].kind == TaskKind::regression) continue;
      for (int step = 0; step <= kSteps; ++step) {
        TreeTarget mixed = blend[t];
        mixed.weight = static_cast<double>(step) / kSteps;
        mixed.log_odds = log_odds;
        std::vector<double> mean(trees.size());
        for (std::vector<double> values : own) {
          mix_rows({mixed}, trees, values);
          for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += values[i] / static_cast<double>(own.size());
        }
        const double value = evaluate_metric(own_metric, one.task, mean, labels).value;
        if (std::isfinite(value))
          candidates.push_back({mixed.weight, log_odds, larger_is_better(own_metric) ? value : -value});
      }
    }
    const Candidate chosen = candidates.empty() ? Candidate{} : choose(candidates);
    blend[t].weight = chosen.weight;
    blend[t].log_odds = chosen.log_odds;
  }
}

}  // namespace molgraph
