#include "datasets/tables/task.hpp"

#include <functional>
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

void Task::set_kinds(std::vector<TaskKind> of_targets) {
  const bool alike =
      std::adjacent_find(of_targets.begin(), of_targets.end(), std::not_equal_to<>()) == of_targets.end();
  kind = !alike ? TaskKind::mixed : of_targets.empty() ? kind : of_targets.front();
  kinds = alike ? std::vector<TaskKind>() : std::move(of_targets);
}

}  // namespace molgraph
