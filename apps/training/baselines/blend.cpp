#include "apps/training/baselines/blend.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace molgraph {
namespace {

constexpr int kSteps = 20;                  ///< weights 0, 0.05, ... 1
constexpr double kLeastProbability = 1e-6;  ///< that a logarithm is taken of
constexpr double kSameWeight = 1e-9;

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
  double weight = 0.5;
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

/// Of all that lose no more than the best one but for a standard error, the one nearest to a half; of equally near ones
/// the better one.
const Candidate& choose(const std::vector<Candidate>& all) {
  const auto by_mean = [](const Candidate& a, const Candidate& b) { return a.mean < b.mean; };
  const Candidate& best = *std::ranges::min_element(all, by_mean);
  const Candidate* chosen = &best;
  const auto distance = [](const Candidate& one) { return std::abs(one.weight - 0.5); };
  for (const Candidate& one : all) {
    const auto [mean, error] = excess(one, best);
    if (mean > error) continue;
    const double nearer = distance(*chosen) - distance(one);
    if (nearer > kSameWeight || (nearer > -kSameWeight && one.mean < chosen->mean)) chosen = &one;
  }
  return *chosen;
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
  std::size_t first = 0;  // of a target's columns of the predictions
  for (std::size_t t = 0; t < blend.size(); ++t) {
    const auto outputs = static_cast<std::size_t>(blend[t].classes);
    const TaskKind kind = blend[t].kind;
    const std::vector<double> labels = columns_of(targets, task.names.size(), t, 1),
                              trees = columns_of(of_trees, width, first, outputs);
    std::vector<std::vector<double>> own;
    for (const auto& model : models) own.push_back(columns_of(model, width, first, outputs));
    first += outputs;
    if (kind != TaskKind::regression && classes_in(labels) < 2) {
      blend[t].weight = 0.5;
      continue;
    }
    std::vector<Candidate> candidates;
    for (int step = 0; step <= kSteps; ++step) {
      TreeTarget mixed = blend[t];
      mixed.weight = static_cast<double>(step) / kSteps;
      std::vector<double> mean(trees.size());
      for (std::vector<double> values : own) {
        mix_rows({mixed}, trees, values);
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += values[i] / static_cast<double>(own.size());
      }
      Candidate candidate{mixed.weight, {}, 0};
      for (std::size_t i = 0; i < labels.size(); ++i)
        if (!std::isnan(labels[i])) candidate.losses.push_back(loss_of(metric, kind, &mean[i * outputs], labels[i]));
      for (const double loss : candidate.losses) candidate.mean += loss / static_cast<double>(candidate.losses.size());
      candidates.push_back(std::move(candidate));
    }
    blend[t].weight = choose(candidates).weight;
  }
}

}  // namespace molgraph
