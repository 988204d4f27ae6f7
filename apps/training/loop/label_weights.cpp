#include "apps/training/loop/label_weights.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kTargetsShown = 5;
constexpr std::size_t kClassesShown = 5;

double weight_of_row(const MoleculeSet& set, std::int64_t g, std::size_t t) {
  const std::vector<float>& weight = t < set.dense_targets() ? set.weight : set.sparse.weight;
  return weight.empty() ? 1.0 : static_cast<double>(weight[static_cast<std::size_t>(g)]);
}

}  // namespace

std::size_t LabelWeights::class_of(const MoleculeSet& set, std::size_t t, double label) const {
  const bool one = classes_ == 1 || set.task.kind_of(t) == TaskKind::regression;
  return one ? 0 : static_cast<std::size_t>(label);
}

LabelWeights::LabelWeights(const MoleculeSet& set, const std::vector<std::int64_t>& training,
                           const WeightOptions& options) {
  const std::vector<double>& tasks = set.target_weight.empty() ? options.tasks : set.target_weight;
  if (set.weight.empty() && tasks.empty() && !options.balance_tasks && !options.balance_classes) return;
  const std::size_t targets = set.task.names.size();
  assert(tasks.empty() || tasks.size() == targets);
  if (options.balance_classes) classes_ = static_cast<std::size_t>(std::max(2, set.task.classes));
  std::vector<double> sum(targets * classes_);  // of row weights
  double labels = 0;
  for (const std::int64_t g : training)
    set.labels_of(g, [&](std::size_t t, double label, std::int8_t) {
      sum[t * classes_ + class_of(set, t, label)] += weight_of_row(set, g, t);
      labels += 1;
    });
  factor_.assign(sum.size(), 1.0);
  double total = 0;
  for (std::size_t t = 0; t < targets; ++t) {
    const auto first = sum.begin() + static_cast<std::ptrdiff_t>(t * classes_),
               last = first + static_cast<std::ptrdiff_t>(classes_);
    const double of_target = std::accumulate(first, last, 0.0);
    const auto present = static_cast<double>(std::count_if(first, last, [](double s) { return s > 0; }));
    const double task = (tasks.empty() ? 1.0 : tasks[t]) / (options.balance_tasks && of_target > 0 ? of_target : 1.0);
    for (std::size_t c = 0; c < classes_; ++c) {
      const double of_class = sum[t * classes_ + c];
      factor_[t * classes_ + c] = task * (classes_ > 1 && of_class > 0 ? of_target / (present * of_class) : 1.0);
    }
    total += task * of_target;
  }
  if (total > 0)
    for (double& factor : factor_) factor *= labels / total;
}

float LabelWeights::of(const MoleculeSet& set, std::int64_t g, std::size_t t) const {
  const double label = set.target(static_cast<std::size_t>(g) * set.task.names.size() + t);
  return std::isnan(label) ? 0 : of(set, g, t, label);
}

float LabelWeights::of(const MoleculeSet& set, std::int64_t g, std::size_t t, double label) const {
  return all_one() ? 1 : static_cast<float>(weight_of_row(set, g, t) * factor_[t * classes_ + class_of(set, t, label)]);
}

std::vector<float> LabelWeights::table(const MoleculeSet& set) const {
  std::vector<float> all;
  if (all_one()) return all;
  all.reserve(static_cast<std::size_t>(set.size()) * set.task.names.size());
  for (std::int64_t g = 0; g < set.size(); ++g)
    for (std::size_t t = 0; t < set.task.names.size(); ++t) all.push_back(of(set, g, t));
  return all;
}

std::string LabelWeights::text(const Task& task) const {
  if (all_one()) return {};
  std::vector<std::string> targets;
  for (std::size_t t = 0; t < task.names.size(); ++t) {
    const double* factor = factor_.data() + t * classes_;
    std::vector<std::string> classes;
    for (std::size_t c = 0; c < classes_ && classes_ > 1 && task.kind_of(t) != TaskKind::regression; ++c)
      classes.push_back(task.class_name(c) + ": " + sensible_number(factor[c]));
    targets.push_back(task.names[t] + " " +
                      (classes.empty() ? sensible_number(*factor) : "(" + list_of(classes, kClassesShown) + ")"));
  }
  return list_of(targets, kTargetsShown);
}

}  // namespace molgraph
