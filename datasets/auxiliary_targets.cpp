#include "datasets/auxiliary_targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// The columns `chosen` of values [rows, columns]; empty if `values` is empty.
template <class Values>
Values columns_of(const Values& values, const std::vector<std::size_t>& chosen, std::size_t columns) {
  Values kept;
  if (values.empty()) return kept;
  kept.reserve(values.size() / columns * chosen.size());
  for (std::size_t row = 0; row + columns <= values.size(); row += columns)
    for (const std::size_t column : chosen) kept.push_back(values[row + column]);
  return kept;
}

std::vector<std::size_t> indices(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> all(end - begin);
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// Appends row `row` of `values` [rows, columns] to `into`; if `values` is empty, `missing` for each column.
template <class Value>
void append_row(std::vector<Value>& into, const std::vector<Value>& values, std::size_t row, std::size_t columns,
                Value missing) {
  if (values.empty()) into.insert(into.end(), columns, missing);
  else
    into.insert(into.end(), values.begin() + static_cast<std::ptrdiff_t>(row * columns),
                values.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
}

void drop_if_exact(std::vector<std::int8_t>& bound) {
  if (std::ranges::all_of(bound, [](std::int8_t one) { return one == 0; })) bound = {};
}

}  // namespace

Task some_targets(const Task& all, const std::vector<std::size_t>& chosen) {
  Task task{.kind = all.kind, .classes = all.classes, .class_labels = all.class_labels};
  std::vector<TaskKind> kinds;
  for (const std::size_t t : chosen) {
    task.names.push_back(all.names[t]);
    task.units.push_back(all.units[t]);
    kinds.push_back(all.kind_of(t));
  }
  task.set_kinds(std::move(kinds));
  if (task.kind == TaskKind::regression) task.class_labels.clear();
  return task;
}

void keep_targets(MoleculeSet& set, const std::vector<std::size_t>& chosen) {
  const std::size_t before = set.task.names.size();
  set.task = some_targets(set.task, chosen);
  set.targets = columns_of(set.targets, chosen, before);
  set.bound = columns_of(set.bound, chosen, before);
}

Task joined_task(const Task& primary, const Task& auxiliary) {
  if (auxiliary.names.empty()) return primary;
  if (primary.kind == TaskKind::multiclass || auxiliary.kind == TaskKind::multiclass)
    throw UsageError("--auxiliary-targets requires numeric or binary targets; a target has more than two classes");
  Task all = primary;
  std::vector<TaskKind> kinds;
  for (std::size_t t = 0; t < primary.names.size(); ++t) kinds.push_back(primary.kind_of(t));
  for (std::size_t t = 0; t < auxiliary.names.size(); ++t) {
    kinds.push_back(auxiliary.kind_of(t));
    all.names.push_back(auxiliary.names[t]);
    all.units.push_back(auxiliary.units[t]);
  }
  all.set_kinds(std::move(kinds));
  if (!all.logarithmic.empty()) all.logarithmic.resize(all.names.size());  // auxiliary targets are learned as they are
  return all;
}

AuxiliaryTargets take_auxiliary(MoleculeSet& set, const Task& primary, const Task& auxiliary) {
  if (auxiliary.names.empty()) return {};
  set.task = joined_task(primary, auxiliary);
  const std::size_t kept = primary.names.size(), all = set.task.names.size();
  const std::vector<std::size_t> last = indices(kept, all);
  AuxiliaryTargets taken{auxiliary, columns_of(set.targets, last, all), columns_of(set.bound, last, all)};
  keep_targets(set, indices(0, kept));
  drop_if_exact(set.bound);
  drop_if_exact(taken.bound);
  set.task = primary;
  return taken;
}

MoleculeSet with_auxiliary(const MoleculeSet& set, const AuxiliaryTargets& auxiliary,
                           const std::vector<std::int64_t>& training) {
  MoleculeSet all = set;
  all.task = joined_task(set.task, auxiliary.task);
  const std::size_t primary = set.task.names.size(), extra = auxiliary.task.names.size();
  const auto molecules = static_cast<std::size_t>(set.size());
  std::vector<bool> in_training(molecules);
  for (const std::int64_t g : training) in_training[static_cast<std::size_t>(g)] = true;
  const bool bounded = !set.bound.empty() || !auxiliary.bound.empty();
  all.targets.clear();
  all.bound.clear();
  for (std::size_t g = 0; g < molecules; ++g) {
    append_row(all.targets, set.targets, g, primary, 0.0);
    append_row(all.targets, in_training[g] ? auxiliary.values : std::vector<double>{}, g, extra,
               std::numeric_limits<double>::quiet_NaN());
    if (!bounded) continue;
    append_row(all.bound, set.bound, g, primary, std::int8_t{0});
    append_row(all.bound, in_training[g] ? auxiliary.bound : std::vector<std::int8_t>{}, g, extra, std::int8_t{0});
  }
  return all;
}

std::vector<std::string> auxiliary_warnings(const AuxiliaryTargets& auxiliary,
                                            const std::vector<std::int64_t>& training) {
  std::vector<std::string> warnings;
  const std::size_t targets = auxiliary.task.names.size();
  for (std::size_t t = 0; t < targets; ++t) {
    std::set<double> labels;
    for (const std::int64_t g : training)
      if (const double label = auxiliary.values[static_cast<std::size_t>(g) * targets + t]; !std::isnan(label))
        if (labels.insert(label); labels.size() > 1) break;
    if (labels.size() < 2)
      warnings.push_back("the auxiliary target '" + auxiliary.task.names[t] + "' has " +
                         (labels.empty() ? "no label" : "only one distinct label") +
                         " in the training set: the model cannot learn from it");
  }
  return warnings;
}

}  // namespace molgraph
