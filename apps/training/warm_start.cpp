#include "apps/training/warm_start.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "apps/scoring/model_file.hpp"
#include "apps/training/run_directory.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/tables/table_reader.hpp"
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

std::string leak_warning(const std::string& from, const Task& start, const LoadedData& data) {
  namespace fs = std::filesystem;
  const auto is_shared = [&](const std::string& name) {
    return std::ranges::find(start.names, name) != start.names.end();
  };
  std::error_code error;
  const fs::path folder = fs::is_directory(from, error) ? fs::path(from) : fs::path(from).parent_path();
  const std::string path = RunDirectory{folder.string()}.splits();
  if (std::ranges::none_of(data.set.task.names, is_shared) || !fs::is_regular_file(path, error)) return {};
  TableOptions options;
  options.format = TableFormat::csv;
  options.molecules = false;
  options.header = true;
  TableReader reader(path, options);
  const int smiles = find_column(reader.columns(), "smiles", path), part = find_column(reader.columns(), "split", path);
  if (smiles < 0 || part < 0) return {};
  std::unordered_set<std::string> learned;
  for (TableRow row; reader.next(row);) {
    if (!row.problem.empty()) continue;
    const std::string& its_part = row.cells[static_cast<std::size_t>(part)];
    if (!its_part.empty() && its_part != "test") learned.insert(row.cells[static_cast<std::size_t>(smiles)]);
  }
  const auto known = std::ranges::count_if(
      data.split.test, [&](std::int64_t g) { return learned.contains(data.set.smiles[static_cast<std::size_t>(g)]); });
  if (known == 0) return {};
  return with_thousands(known) + " of the " + with_thousands(static_cast<std::int64_t>(data.split.test.size())) +
         " test molecules are in the training or validation part of " + from +
         ", with a target of the same name: the test results will look better than they are";
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
