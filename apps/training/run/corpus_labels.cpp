#include "apps/training/run/corpus_labels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/scoring/moments.hpp"
#include "apps/training/loop/metrics.hpp"
#include "datasets/descriptor_columns.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kLeftOutShown = 10;
constexpr double kMadToDeviation = 1.4826;  ///< of a normal distribution

/// Returns the median of at least one number. Reorders the numbers.
double median_of_numbers(std::vector<float>& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  const double upper = *middle;
  return numbers.size() % 2 == 1 ? upper : (upper + *std::max_element(numbers.begin(), middle)) / 2;
}

/// Centre and scale of a target; scale 0 = constant target.
struct LabelScale {
  double center = 0, scale = 0;
};

LabelScale scale_of_numbers(std::vector<float> numbers) {
  if (numbers.empty()) return {};
  const double center = median_of_numbers(numbers);
  Moments moments;
  for (const float number : numbers) moments.add(number);
  for (float& number : numbers) number = static_cast<float>(std::abs(number - center));
  const double scale = kMadToDeviation * median_of_numbers(numbers);
  return {center, scale > 0 ? scale : moments.deviation()};
}

LabelScale scale_of_classes(const std::vector<float>& classes) {
  const auto ones = std::ranges::count_if(classes, [](float one) { return one > 0.5f; });
  return {0, ones > 0 && ones < std::ssize(classes) ? 1.0 : 0.0};
}

/// Labels of each target in the training set.
struct TrainingLabels {
  std::vector<std::vector<float>> exact;
  std::vector<std::int64_t> count;  ///< includes censored labels
};

TrainingLabels training_labels(const SparseLabels& labels, const std::vector<std::int64_t>& training) {
  TrainingLabels all{std::vector<std::vector<float>>(labels.targets), std::vector<std::int64_t>(labels.targets)};
  for (const std::int64_t g : training) {
    const auto molecule = static_cast<std::size_t>(g);
    for (auto i = static_cast<std::size_t>(labels.offset[molecule]);
         i < static_cast<std::size_t>(labels.offset[molecule + 1]); ++i) {
      ++all.count[labels.target[i]];
      if (labels.bound.empty() || labels.bound[i] == 0) all.exact[labels.target[i]].push_back(labels.value[i]);
    }
  }
  return all;
}

/// Leaves out targets with scale 0 and clips the labels of the others. Returns the number of clipped labels.
std::int64_t keep_targets(SparseLabels& labels, const std::vector<LabelScale>& scales, const Task& task) {
  std::vector<std::uint32_t> new_index(scales.size());
  std::uint32_t kept = 0;
  for (std::size_t t = 0; t < scales.size(); ++t) new_index[t] = scales[t].scale > 0 ? kept++ : kept;
  labels.keep([&](std::size_t i) { return scales[labels.target[i]].scale > 0; });
  std::int64_t clipped = 0;
  for (std::size_t i = 0; i < labels.target.size(); ++i) {
    const std::uint32_t t = labels.target[i];
    labels.target[i] = new_index[t];
    if (task.kind_of(t) != TaskKind::regression) continue;
    const double reach = kLabelClip * scales[t].scale;
    const auto inside =
        static_cast<float>(std::clamp<double>(labels.value[i], scales[t].center - reach, scales[t].center + reach));
    clipped += inside != labels.value[i];
    labels.value[i] = inside;
  }
  labels.targets = kept;
  return clipped;
}

/// Returns the label weights [T] of targets with these numbers of training labels. Their mean over the labels is
/// `options.weight`.
std::vector<double> weights_by_count(const std::vector<std::int64_t>& counts, const LabelOptions& options) {
  std::vector<double> weights;
  double labels = 0, total = 0;
  for (const std::int64_t count : counts) {
    const auto n = static_cast<double>(count);
    weights.push_back(std::pow(n, -options.balance));
    labels += n;
    total += n * weights.back();
  }
  for (double& weight : weights) weight *= options.weight * labels / total;
  return weights;
}

std::string how_many(std::int64_t count, const std::string& what) {
  return with_thousands(count) + " " + what + (count == 1 ? "" : "s");
}

/// Returns a log line that describes the measured targets.
std::string labels_note(const MoleculeSet& set, std::int64_t clipped) {
  const MeasuredLabels labels = measured_labels(set, {});
  std::int64_t classes = 0;
  for (std::size_t t = set.dense_targets(); t < set.task.names.size(); ++t)
    classes += set.task.kind_of(t) == TaskKind::binary;
  return "Measured targets: " + how_many(labels.columns - classes, "column") + " of numbers and " +
         std::to_string(classes) + " of classes, " + how_many(labels.labels, "label") + " of " +
         how_many(labels.molecules, "molecule") +
         "; numbers are scaled by median and median absolute deviation and clipped at " + number_text(kLabelClip) +
         " deviations (" + how_many(clipped, "label") + ")";
}

/// Returns a log line with the smallest and the largest weight of a measured label.
std::string weights_note(const Task& task, const std::vector<double>& weights, std::size_t first) {
  const auto [min_weight, max_weight] =
      std::minmax_element(weights.begin() + static_cast<std::ptrdiff_t>(first), weights.end());
  const auto shown = [&](const auto& one) {
    return sensible_number(*one) + " (" + task.names[static_cast<std::size_t>(one - weights.begin())] + ")";
  };
  return "Weights in the loss: all descriptors of a molecule together 1, a measured label " + shown(min_weight) +
         " to " + shown(max_weight);
}

}  // namespace

void append_labels(LoadedData& data, const Task& measured, const LabelOptions& options) {
  MoleculeSet& set = data.set;
  const std::size_t computed = set.task.names.size();
  for (const std::string& name : measured.names)
    if (is_descriptor_name(name) || std::ranges::find(set.task.names, name) != set.task.names.end())
      throw DataError(set.source.name + ": the column '" + name +
                      "' has the name of a descriptor, which is also a target; rename the column");
  TrainingLabels training = training_labels(set.sparse, data.split.train);
  std::vector<LabelScale> scales;
  std::vector<std::string> left_out;
  std::vector<std::int64_t> counts;
  std::vector<TaskKind> kinds(computed, TaskKind::regression);
  Task& task = set.task;
  for (std::size_t t = 0; t < measured.names.size(); ++t) {
    const TaskKind kind = measured.kind_of(t);
    scales.push_back(kind == TaskKind::regression ? scale_of_numbers(std::move(training.exact[t]))
                                                  : scale_of_classes(training.exact[t]));
    if (!(scales.back().scale > 0)) {
      left_out.push_back("'" + measured.names[t] + "'");
      continue;
    }
    task.names.push_back(measured.names[t]);
    task.units.push_back(measured.units[t]);
    kinds.push_back(kind);
    counts.push_back(training.count[t]);
    set.target_center.push_back(scales.back().center);
    set.target_scale.push_back(scales.back().scale);
  }
  if (counts.empty())
    throw DataError(set.source.name + ": no measured target has two different labels in the training set");
  task.class_labels = measured.class_labels;
  task.set_kinds(std::move(kinds));
  const std::int64_t clipped = keep_targets(set.sparse, scales, measured);
  set.target_weight.assign(computed, 1 / static_cast<double>(computed));
  const std::vector<double> weights = weights_by_count(counts, options);
  set.target_weight.insert(set.target_weight.end(), weights.begin(), weights.end());
  data.notes.push_back(labels_note(set, clipped));
  data.notes.push_back(weights_note(task, set.target_weight, computed));
  if (!left_out.empty())
    data.notes.push_back("Left out because constant in the training set: " + how_many(std::ssize(left_out), "column") +
                         ", " + list_of(left_out, kLeftOutShown));
}

std::vector<KindQuality> quality_by_kind(const MoleculeSet& set, const std::vector<double>& predictions,
                                         const std::vector<double>& targets) {
  if (set.sparse.targets == 0) return {};
  const Task& task = set.task;
  std::vector<std::int64_t> labels(task.names.size());
  for (std::size_t i = 0; i < targets.size(); ++i) labels[i % labels.size()] += !std::isnan(targets[i]);
  std::vector<KindQuality> kinds{{"r2-descriptors"}, {"r2-numbers"}, {"roc-auc-classes"}};
  const auto add = [&](Metric metric, TaskKind kind) {
    if (!task.has(kind)) return;
    const std::vector<double> values = evaluate_metric(metric, task, predictions, targets).per_target;
    for (std::size_t t = 0; t < values.size(); ++t) {
      if (task.kind_of(t) != kind || labels[t] < kMinJudged || std::isnan(values[t])) continue;
      KindQuality& of = kinds[kind == TaskKind::binary ? 2 : t < set.dense_targets() ? 0 : 1];
      of.value += values[t];
      ++of.targets;
    }
  };
  add(Metric::r2, TaskKind::regression);
  add(Metric::roc_auc, TaskKind::binary);
  for (KindQuality& kind : kinds)
    kind.value =
        kind.targets > 0 ? kind.value / static_cast<double>(kind.targets) : std::numeric_limits<double>::quiet_NaN();
  return kinds;
}

MeasuredLabels measured_labels(const MoleculeSet& set, std::vector<KindQuality> valid) {
  const SparseLabels& labels = set.sparse;
  MeasuredLabels all{static_cast<std::int64_t>(labels.targets), std::ssize(labels.value), 0, std::move(valid)};
  for (std::size_t g = 0; g < labels.molecules(); ++g) all.molecules += labels.offset[g + 1] > labels.offset[g];
  return all;
}

}  // namespace molgraph
