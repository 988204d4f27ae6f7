#include "apps/training/loop/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "apps/scoring/moments.hpp"
#include "apps/training/loop/batches.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "datasets/label_limits.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kTokensPerBatch = 4096;

}  // namespace

std::vector<double> predict_molecules(const PredictFunction& run, const PackOptions& pack, const MoleculeSet& set,
                                      const std::vector<std::int64_t>& indices, const RunControl& control) {
  torch::InferenceMode inference;
  const std::int64_t outputs = set.task.num_outputs();
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return set.graph(indices[a]).num_atoms < set.graph(indices[b]).num_atoms;
  });
  std::vector<double> predictions(indices.size() * static_cast<std::size_t>(outputs));
  for (std::size_t start = 0; start < order.size();) {
    control.stop_if_requested();
    std::vector<std::int64_t> chosen;
    std::int64_t tokens = 0;
    std::size_t end = start;
    while (end < order.size() && (chosen.empty() || tokens < kTokensPerBatch)) {
      chosen.push_back(indices[order[end++]]);
      tokens += set.graph(chosen.back()).num_atoms + 1;
    }
    const TrainBatch batch = make_batch(set, chosen, pack);
    const torch::Tensor values = to_predictions(set.task, run(batch.graph, {}).values).to(torch::kFloat64).contiguous();
    for (std::size_t k = start; k < end; ++k) {
      const double* row = values.data_ptr<double>() + static_cast<std::int64_t>(k - start) * outputs;
      std::copy_n(row, outputs, predictions.begin() + static_cast<std::int64_t>(order[k]) * outputs);
    }
    start = end;
  }
  return predictions;
}

std::vector<double> targets_of(const MoleculeSet& set, const std::vector<std::int64_t>& indices) {
  const std::size_t num_targets = set.task.names.size();
  std::vector<double> targets(indices.size() * num_targets, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < indices.size(); ++i)
    set.labels_of(indices[i], [&](std::size_t t, double label, std::int8_t bound) {
      if (bound == 0) targets[i * num_targets + t] = label;
    });
  return targets;
}

std::int64_t count_labels(const std::vector<double>& values, std::size_t target, std::size_t targets) {
  std::int64_t count = 0;
  for (std::size_t i = target; i < values.size(); i += targets) count += !std::isnan(values[i]);
  return count;
}

namespace {

/// Returns target_statistics() of labels clipped to `limits` [T]; empty = not clipped.
TargetStatistics statistics_within(const std::vector<LabelLimits>& limits, const MoleculeSet& set,
                                   const std::vector<std::int64_t>& indices) {
  const std::size_t num_targets = set.task.names.size();
  TargetStatistics result{std::vector<double>(num_targets), std::vector<double>(num_targets)};
  const auto measure = [&](std::size_t t, bool censored) {
    Moments moments;
    for (const std::int64_t g : indices) {
      const std::size_t at = static_cast<std::size_t>(g) * num_targets + t;
      const bool is_limit = !set.bound.empty() && set.bound[at] != 0;
      const double target = set.target(at);
      if (std::isnan(target) || is_limit != censored) continue;
      moments.add(limits.empty() || censored ? target : std::clamp(target, limits[t].low, limits[t].high));
    }
    result.mean[t] = moments.mean;
    result.deviation[t] = moments.deviation();
    return moments.weight > 0;
  };
  for (std::size_t t = 0; t < num_targets; ++t)
    if (!measure(t, false) && !set.bound.empty()) measure(t, true);
  return result;
}

}  // namespace

TargetStatistics target_statistics(const MoleculeSet& set, const std::vector<std::int64_t>& indices) {
  return statistics_within({}, set, indices);
}

TargetStatistics target_scaling_of(const MoleculeSet& set, const std::vector<std::int64_t>& indices) {
  if (!set.computed_targets.empty()) return {set.target_center, set.target_scale};
  // A typing error may be a thousand deviations away. All other targets would then be scaled to nearly the same number.
  TargetStatistics result = statistics_within(label_limits(set, indices), set, indices);
  for (std::size_t t = 0; t < result.mean.size(); ++t) {
    const bool regression = set.task.kind_of(t) == TaskKind::regression;
    if (!regression) result.mean[t] = 0;
    const bool constant = result.deviation[t] <= 1e-12 * std::abs(result.mean[t]);  // it may be rounding
    if (!regression || constant) result.deviation[t] = 1;
  }
  return result;
}

}  // namespace molgraph
