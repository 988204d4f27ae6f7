#include "datasets/auxiliary_targets.hpp"

#include <algorithm>
#include <limits>

#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// The columns `chosen` of values [rows, columns]; none of none.
template <class Values>
Values columns_of(const Values& values, const std::vector<std::size_t>& chosen, std::size_t columns) {
  Values kept;
  kept.reserve(values.size() / columns * chosen.size());
  for (std::size_t row = 0; row + columns <= values.size(); row += columns)
    for (const std::size_t c : chosen) kept.push_back(values[row + c]);
  return kept;
}

Task task_of(const Task& all, const std::vector<std::size_t>& chosen) {
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

/// Appends `more` [more_columns] to each row of `values` [columns] in `into`.
template <class Value>
void append_row(std::vector<Value>& into, const std::vector<Value>& values, std::size_t row, std::size_t columns,
                Value missing) {
  if (values.empty()) into.insert(into.end(), columns, missing);
  else
    into.insert(into.end(), values.begin() + static_cast<std::ptrdiff_t>(row * columns),
                values.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
}

}  // namespace

AuxiliaryTargets take_auxiliary(MoleculeSet& set, const std::vector<std::string>& names) {
  AuxiliaryTargets auxiliary;
  if (names.empty()) return auxiliary;
  if (set.task.kind == TaskKind::multiclass)
    throw UsageError("--auxiliary-targets is for numbers and two classes; the targets have more classes");
  const std::size_t targets = set.task.names.size();
  const ColumnNames known(set.task.names, set.source.name);
  std::vector<std::size_t> taken, left;
  for (const std::string& name : names) {
    const int found = known.find(name);
    if (found < 0)
      throw DataError(set.source.name + ": the auxiliary target '" + name +
                      "' is no column of numbers or of two classes (words are one beside --target-columns)");
    taken.push_back(static_cast<std::size_t>(found));
    if (std::ranges::count(taken, taken.back()) > 1)
      throw UsageError("the auxiliary target '" + name + "' is named twice");
  }
  for (std::size_t t = 0; t < targets; ++t)
    if (std::ranges::find(taken, t) == taken.end()) left.push_back(t);
  if (left.empty()) throw DataError(set.source.name + ": no target is left beside the auxiliary ones");
  auxiliary = {task_of(set.task, taken), columns_of(set.targets, taken, targets),
               columns_of(set.bound, taken, targets)};
  set.targets = columns_of(set.targets, left, targets);
  set.bound = columns_of(set.bound, left, targets);
  set.task = task_of(set.task, left);
  if (std::ranges::all_of(set.bound, [](std::int8_t bound) { return bound == 0; })) set.bound = {};
  return auxiliary;
}

MoleculeSet with_auxiliary(const MoleculeSet& set, const AuxiliaryTargets& auxiliary,
                           const std::vector<std::int64_t>& training) {
  MoleculeSet all = set;
  const std::size_t own = set.task.names.size(), more = auxiliary.task.names.size();
  const auto molecules = static_cast<std::size_t>(set.size());
  std::vector<bool> learned(molecules);
  for (const std::int64_t g : training) learned[static_cast<std::size_t>(g)] = true;
  const bool bounded = !set.bound.empty() || !auxiliary.bound.empty();
  all.targets.clear();
  all.bound.clear();
  for (std::size_t g = 0; g < molecules; ++g) {
    append_row(all.targets, set.targets, g, own, 0.0);
    append_row(all.targets, learned[g] ? auxiliary.values : std::vector<double>{}, g, more,
               std::numeric_limits<double>::quiet_NaN());
    if (!bounded) continue;
    append_row(all.bound, set.bound, g, own, std::int8_t{0});
    append_row(all.bound, auxiliary.bound, g, more, std::int8_t{0});
  }
  std::vector<TaskKind> kinds;
  for (std::size_t t = 0; t < own; ++t) kinds.push_back(set.task.kind_of(t));
  for (std::size_t t = 0; t < more; ++t) kinds.push_back(auxiliary.task.kind_of(t));
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(all.task.names, auxiliary.task.names);
  append(all.task.units, auxiliary.task.units);
  all.task.set_kinds(std::move(kinds));
  return all;
}

}  // namespace molgraph
