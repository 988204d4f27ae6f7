#include "apps/training/warm_start.hpp"

#include <filesystem>

#include "apps/scoring/model_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

bool belongs_to_head(const std::string& name) {
  return name.starts_with("head.") || name == "target_shift" || name == "target_scale";
}

/// A file without labels (numbers, or written before they were kept) fits any.
bool other_labels(const Task& a, const Task& b) {
  return !a.class_labels.empty() && !b.class_labels.empty() && a.class_labels != b.class_labels;
}

}  // namespace

bool needs_new_head(const Task& start, const Task& task) {
  return start.names != task.names || start.kind != task.kind || start.kinds != task.kinds ||
         start.num_outputs() != task.num_outputs() || other_labels(start, task);
}

WarmStart warm_start(const std::string& path, const ModelConfig& start, const ModelConfig& config, GraphModel& model) {
  WarmStart result;
  result.new_head = needs_new_head(start.task, config.task) || start.input_names != config.input_names ||
                    start.model.head.mixed != config.model.head.mixed;
  SafetensorsFile file = read_model_file(path);
  if (result.new_head) std::erase_if(file.tensors, [](const auto& item) { return belongs_to_head(item.first); });
  std::string problems;
  for (const TensorProblem& problem : copy_tensors(file.tensors, model)) {
    const bool missing = problem.kind == TensorProblem::Kind::missing;
    if (missing && result.new_head && belongs_to_head(problem.name)) continue;
    const ParameterSpec* spec = model.specs().find(problem.name);
    if (missing && spec != nullptr && spec->is_gate() && !start.model.encoder.gate.enabled) {
      result.fresh.push_back(problem.name);
      continue;
    }
    problems += "\n  " + problem.text;
  }
  if (!problems.empty()) throw FileError(path + ": these weights do not fit:" + problems);
  return result;
}

}  // namespace molgraph
