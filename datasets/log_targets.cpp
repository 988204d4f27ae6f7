#include "datasets/log_targets.hpp"

#include <algorithm>
#include <cmath>

#include "datasets/system/text.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMinLabels = 50;
constexpr std::size_t kLabelsPerOther = 20;  // positive labels per label of 0 or less, for a note

/// Position of the median between the 5th and the 95th percentile: 0 = in the middle, 1 = at one of the ends.
double asymmetry(double low, double median, double high) { return std::abs(low + high - 2 * median) / (high - low); }

}  // namespace

bool are_skewed_over_a_decade(std::vector<double> labels) {
  std::erase_if(labels, [](double label) { return std::isnan(label); });
  if (labels.size() < kMinLabels) return false;
  std::ranges::sort(labels);
  const double low = labels[labels.size() / 20], median = labels[labels.size() / 2],
               high = labels[labels.size() - 1 - labels.size() / 20];
  return labels.front() > 0 && high >= 10 * low &&
         asymmetry(std::log10(low), std::log10(median), std::log10(high)) < asymmetry(low, median, high);
}

std::vector<bool> positive_targets(const MoleculeSet& set) {
  const std::size_t targets = set.task.names.size();
  std::vector<bool> positive(targets);
  for (std::size_t t = 0; t < targets; ++t) positive[t] = set.task.kind_of(t) == TaskKind::regression;
  for (std::size_t at = 0; at < set.targets.size(); ++at)
    if (set.targets[at] <= 0) positive[at % targets] = false;
  return positive;
}

std::vector<bool> skewed_targets(LoadedData& data) {
  const MoleculeSet& set = data.set;
  const std::size_t targets = set.task.names.size();
  std::vector<bool> tested(static_cast<std::size_t>(set.size())), skewed = positive_targets(set);
  for (const auto* part : {&data.split.test, &data.split.calibration})
    for (const std::int64_t g : *part) tested[static_cast<std::size_t>(g)] = true;
  for (std::size_t t = 0; t < targets; ++t) {
    if (set.task.kind_of(t) != TaskKind::regression) continue;
    std::vector<double> labels;
    std::size_t others = 0;
    for (std::size_t g = 0; g < tested.size(); ++g) {
      const double label = set.targets[g * targets + t];
      if (label <= 0) ++others;
      else if (!tested[g]) labels.push_back(label);
    }
    const std::size_t count = labels.size();
    const bool is_skewed = are_skewed_over_a_decade(std::move(labels));
    skewed[t] = skewed[t] && is_skewed;
    if (is_skewed && others > 0 && others * kLabelsPerOther <= count)
      data.notes.push_back(
          "The labels of " + set.task.names[t] +
          " are skewed and span a factor of 10 or more, but the model does not learn their logarithms, "
          "because " +
          std::to_string(others) + (others == 1 ? " label is" : " labels are") + " 0 or less");
  }
  return skewed;
}

std::vector<bool> log_targets_of(const std::vector<std::string>& names, const Task& task) {
  std::vector<bool> chosen(task.names.size());
  if (names == std::vector<std::string>{kNoLogTargets}) return chosen;
  if (names == std::vector<std::string>{kAllLogTargets}) {
    for (std::size_t t = 0; t < chosen.size(); ++t) chosen[t] = task.kind_of(t) == TaskKind::regression;
    if (std::ranges::none_of(chosen, [](bool one) { return one; }))
      throw UsageError("--log-targets: there is no regression target");
    return chosen;
  }
  for (const std::string& name : names) {
    const int found = find_column(task.names, name, "--log-targets");
    const auto t = static_cast<std::size_t>(found);
    if (found < 0)
      throw UsageError("--log-targets: '" + name + "' is not a target; choose from " + list_of(task.names, 10));
    if (task.kind_of(t) != TaskKind::regression)
      throw UsageError("--log-targets: '" + name + "' is not a regression target");
    chosen[t] = true;
  }
  return chosen;
}

void take_logarithms(const std::vector<bool>& targets, MoleculeSet& set) {
  if (std::ranges::none_of(targets, [](bool one) { return one; })) return;
  for (std::size_t at = 0; at < set.targets.size(); ++at) {
    const std::size_t t = at % targets.size(), g = at / targets.size();
    double& label = set.targets[at];
    if (!targets[t] || std::isnan(label)) continue;
    if (label <= 0)
      throw DataError(set.source.file, set.row[g] + 1,
                      "the label of the target '" + set.task.names[t] + "' must be positive for --log-targets",
                      number_text(label));
    label = std::log10(label);
  }
  set.task.logarithmic = targets;
}

}  // namespace molgraph
