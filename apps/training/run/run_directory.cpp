#include "apps/training/run/run_directory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "apps/scoring/run_record.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/labels.hpp"
#include "datasets/tables/output_columns.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string cell(const std::string& text) { return quote_cell(text, ','); }

/// A missing value is an empty cell.
std::string or_blank(double value, const std::string& text) { return std::isnan(value) ? "" : text; }

/// Targets with interval columns.
std::vector<std::size_t> with_intervals(const Task& task, const std::optional<IntervalColumns>& intervals) {
  std::vector<std::size_t> targets;
  if (!intervals) return targets;
  const std::set<std::string> names(task.names.begin(), task.names.end());
  for (std::size_t t = 0; t < task.names.size(); ++t) {
    if (names.contains(task.names[t] + output_column::kLow) || names.contains(task.names[t] + output_column::kHigh))
      return {};  // the column names would be ambiguous
    bool any = false;
    for (std::size_t i = t; i < intervals->low.size() && !any; i += task.names.size())
      any = !std::isnan(intervals->low[i]);
    if (any) targets.push_back(t);
  }
  return targets;
}

}  // namespace

bool RunDirectory::keeps(const std::string& path) const {
  using std::filesystem::exists;
  return exists(path) && (exists(last()) || exists(RunDirectory{folder + "/model_0"}.last()));
}

std::vector<std::string> RunDirectory::files() const {
  std::vector<std::string> all{config(),
                               model(),
                               best(),
                               last(),
                               metrics(),
                               splits(),
                               valid_predictions(),
                               test_predictions(),
                               rejected(),
                               duplicates(),
                               trees(),
                               process(),
                               calibration(),
                               domain(),
                               explanation(),
                               results(),
                               report_record(),
                               report_page(),
                               model_card(),
                               lock(),
                               log(),
                               folder + "/" + kRunRecord};
  const auto add_run = [&](const std::string& inner) {
    std::error_code error;
    if (!std::filesystem::is_directory(inner, error)) return false;
    for (std::string& file : RunDirectory{inner}.files()) all.push_back(std::move(file));
    return true;
  };
  add_run(refit());
  for (int member = 0; add_run(folder + "/model_" + std::to_string(member)); ++member) {
  }
  return all;
}

void write_splits(const std::string& path, const MoleculeSet& set, const Split& split) {
  std::vector<const char*> part(static_cast<std::size_t>(set.size()), "");
  for (auto g : split.train) part[static_cast<std::size_t>(g)] = "train";
  for (auto g : split.valid) part[static_cast<std::size_t>(g)] = "valid";
  for (auto g : split.test) part[static_cast<std::size_t>(g)] = "test";
  for (auto g : split.calibration) part[static_cast<std::size_t>(g)] = "calibration";
  std::string text = "row,id,smiles,split\n";
  for (std::size_t g = 0; g < part.size(); ++g) {
    text += std::to_string(set.row[g]) + "," + cell(set.id[g]) + "," + cell(set.smiles[g]) + "," + part[g] + "\n";
  }
  write_file_atomically(path, text);
}

void write_rejected(const std::string& path, const MoleculeSet& set) {
  if (set.rejected.empty()) return;
  std::string text = "row,status,reason,smiles\n";
  for (const auto& row : set.rejected) {
    text += std::to_string(row.row) + "," + row.status + "," + cell(row.reason) + "," + cell(row.text) + "\n";
  }
  write_file_atomically(path, text);
}

void write_duplicates(const std::string& path, const std::vector<RepeatedRow>& rows, const Task& task) {
  if (rows.empty()) return;
  std::string text = repeated_header(task);
  for (const RepeatedRow& row : rows) text += repeated_line(row, task);
  write_file_atomically(path, text);
}

void write_predictions(const std::string& path, const MoleculeSet& set, const std::vector<std::int64_t>& indices,
                       const std::vector<double>& predictions, const std::vector<double>& output_scale,
                       const std::optional<IntervalColumns>& intervals) {
  const Task& task = set.task;
  const std::size_t num_targets = task.names.size(), outputs = static_cast<std::size_t>(task.num_outputs());
  const auto classes = static_cast<std::size_t>(task.classes);
  const bool multiclass = task.kind == TaskKind::multiclass;
  std::string text = "id,smiles";
  for (const auto& name : task.names) {
    text += "," + cell(name) + "," + cell(name + output_column::kPrediction);
    for (std::size_t c = 0; multiclass && c < classes; ++c)
      text += "," + cell(name + output_column::kProbability + task.class_name(c));
  }
  const auto predicted = [&](std::size_t t, double value) {
    return task.is_logarithmic(t) ? number_text(static_cast<float>(task.in_table_unit(t, value)))
                                  : number_text(value, output_scale[t]);
  };
  const std::vector<std::size_t> bounded = with_intervals(task, intervals);
  for (const std::size_t t : bounded)
    text += "," + cell(task.names[t] + output_column::kLow) + "," + cell(task.names[t] + output_column::kHigh);
  text += "\n";
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const auto g = static_cast<std::size_t>(indices[k]);
    text += cell(set.id[g]) + "," + cell(set.smiles[g]);
    for (std::size_t t = 0; t < num_targets; ++t) {
      const double target = set.target(g * num_targets + t);
      const double* row = predictions.data() + k * outputs + (multiclass ? t * classes : t);
      if (!multiclass) {
        const int bound = set.bound.empty() ? 0 : set.bound[g * num_targets + t];
        const std::string sign = bound > 0 ? ">" : bound < 0 ? "<" : "";
        const bool is_word = task.kind_of(t) == TaskKind::binary && are_words(task.class_labels) && !std::isnan(target);
        text += "," +
                (is_word ? cell(task.class_name(static_cast<std::size_t>(target)))
                         : or_blank(target, sign + number_text(task.in_table_unit(t, target)))) +
                "," + or_blank(*row, predicted(t, *row));
        continue;
      }
      text += "," + (std::isnan(target) ? "" : cell(task.class_name(static_cast<std::size_t>(target))));
      text += "," + cell(task.class_name(static_cast<std::size_t>(std::max_element(row, row + classes) - row)));
      for (std::size_t c = 0; c < classes; ++c) text += "," + or_blank(row[c], number_text(row[c], 1));
    }
    for (const std::size_t t : bounded)
      for (const auto* bounds : {&intervals->low, &intervals->high}) {
        const double bound = (*bounds)[k * num_targets + t];
        text += "," + or_blank(bound, predicted(t, bound));
      }
    text += "\n";
  }
  write_file_atomically(path, text);
}

std::string model_file_of(const std::string& run) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(run)) return run;
  for (const char* name : {"/model.safetensors", "/checkpoints/best.safetensors"}) {
    if (fs::is_regular_file(run + name)) return run + name;
  }
  throw FileError(run +
                  ": not a run directory: it contains neither model.safetensors nor checkpoints/best.safetensors");
}

}  // namespace molgraph
