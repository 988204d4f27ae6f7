#include "datasets/tables/task.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "featurize/graph/error.hpp"

namespace molgraph {

std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::regression: return "regression";
    case TaskKind::binary: return "binary";
    case TaskKind::multiclass: return "multiclass";
    case TaskKind::mixed: return "mixed";
  }
  return "";
}

TaskKind task_kind_from_string(std::string_view text) {
  if (text == "regression") return TaskKind::regression;
  if (text == "binary" || text == "classification") return TaskKind::binary;
  if (text == "multiclass") return TaskKind::multiclass;
  if (text == "mixed") return TaskKind::mixed;
  throw UsageError("unknown task type '" + std::string(text) +
                   "': use regression, classification, multiclass or mixed");
}

std::vector<std::string> Task::logarithmic_names() const {
  std::vector<std::string> chosen;
  for (std::size_t t = 0; t < names.size(); ++t)
    if (is_logarithmic(t)) chosen.push_back(names[t]);
  return chosen;
}

double Task::in_table_unit(std::size_t target, double value) const {
  if (!is_logarithmic(target) || std::isnan(value)) return value;
  char digits[32];
  const char* end =
      std::to_chars(digits, digits + sizeof digits, std::pow(10.0, value), std::chars_format::scientific, 13).ptr;
  std::from_chars(digits, end, value);
  return value;
}

double Task::in_model_unit(std::size_t target, double value) const {
  if (!is_logarithmic(target)) return value;
  return value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
}

std::string Task::model_name(std::size_t target) const {
  return is_logarithmic(target) ? "log10(" + names[target] + ")" : names[target];
}

std::string Task::model_unit(std::size_t target) const {
  std::string unit = target < units.size() ? units[target] : "";
  if (!is_logarithmic(target)) return unit;
  return unit.empty() ? "log10" : "log10(" + unit + ")";
}

void Task::set_kinds(std::vector<TaskKind> of_targets) {
  const bool alike =
      std::adjacent_find(of_targets.begin(), of_targets.end(), std::not_equal_to<>()) == of_targets.end();
  kind = !alike ? TaskKind::mixed : of_targets.empty() ? kind : of_targets.front();
  kinds = alike ? std::vector<TaskKind>() : std::move(of_targets);
}

}  // namespace molgraph
