#include "datasets/tables/task.hpp"

#include "featurize/graph/error.hpp"

namespace molgraph {

std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::regression: return "regression";
    case TaskKind::binary: return "binary";
    case TaskKind::multiclass: return "multiclass";
  }
  return "";
}

TaskKind task_kind_from_string(std::string_view text) {
  if (text == "regression") return TaskKind::regression;
  if (text == "binary" || text == "classification") return TaskKind::binary;
  if (text == "multiclass") return TaskKind::multiclass;
  throw UsageError("unknown task type '" + std::string(text) + "': regression, classification or multiclass");
}

}  // namespace molgraph
