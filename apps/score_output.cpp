#include "apps/score_output.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace molgraph {
namespace {

std::string label_of(const Task& task, std::size_t class_number) {
  return class_number < task.class_labels.size() ? task.class_labels[class_number] : std::to_string(class_number);
}

/// Names of the new columns before collisions are looked at.
std::vector<std::string> wanted_columns(const Task& task, std::size_t runs, bool individual) {
  std::vector<std::string> names;
  const bool multiclass = task.kind == TaskKind::multiclass;
  for (const std::string& target : task.names) {
    names.push_back(target + "_pred");
    std::vector<std::string> values;  // what every run has
    if (multiclass) {
      for (int c = 0; c < task.classes; ++c) values.push_back(label_of(task, static_cast<std::size_t>(c)));
      for (const auto& label : values) names.push_back(target + "_prob_" + label);
    }
    if (runs > 1) {
      if (!multiclass) names.push_back(target + "_std");
      for (const auto& label : values) names.push_back(target + "_std_" + label);
    }
    for (std::size_t r = 0; individual && r < runs; ++r) {
      std::string run("_");
      run += std::to_string(r);
      if (!multiclass) names.push_back(target + "_pred" + run);
      for (const auto& label : values) names.push_back(target + "_prob_" + label + run);
    }
  }
  names.insert(names.end(), {"status", "reason"});
  return names;
}

}  // namespace

std::string line_of(const std::vector<std::string>& cells, char delimiter) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += delimiter;
    line += quote_cell(cells[c], delimiter);
  }
  return line + "\n";
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number_text(float value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

ScoreTable::ScoreTable(const std::vector<std::string>& input_columns, const Task& task, std::size_t runs,
                       bool individual, RowFormat format)
    : task_(task), runs_(runs), individual_(individual), format_(format), columns_(input_columns) {
  std::set<std::string> taken(input_columns.begin(), input_columns.end());
  for (std::string name : wanted_columns(task, runs, individual)) {
    while (!taken.insert(name).second) name.insert(0, "molgraph_");
    added_.push_back(name);
  }
}

std::string ScoreTable::header() const {
  if (format_ == RowFormat::json) return {};
  std::vector<std::string> all = columns_;
  all.insert(all.end(), added_.begin(), added_.end());
  return line_of(all, delimiter_of(format_));
}

void ScoreTable::append_target(std::size_t target, const Prediction& prediction,
                               std::vector<std::string>& cells) const {
  const bool multiclass = task_.kind == TaskKind::multiclass;
  const std::size_t width = multiclass ? static_cast<std::size_t>(task_.classes) : 1;
  const std::size_t first = target * width;
  const auto add = [&](const std::vector<float>& values) {
    for (std::size_t o = first; o < first + width; ++o) cells.push_back(number_text(values[o]));
  };
  if (multiclass) {
    const float* row = prediction.values.data() + first;
    cells.push_back(label_of(task_, static_cast<std::size_t>(std::max_element(row, row + width) - row)));
  }
  add(prediction.values);
  if (runs_ > 1) add(prediction.deviation);
  for (std::size_t r = 0; individual_ && r < runs_; ++r) {
    add(prediction.members.empty() ? prediction.values : prediction.members[r]);
  }
}

void ScoreTable::append(const TableRow& row, const Prediction& prediction, std::string& out) const {
  std::vector<std::string> cells = row.cells;
  cells.resize(columns_.size());
  if (prediction.status == RowStatus::ok) {
    for (std::size_t t = 0; t < task_.names.size(); ++t) append_target(t, prediction, cells);
  }
  cells.resize(columns_.size() + added_.size() - 2);
  cells.emplace_back(to_string(prediction.status));
  cells.push_back(prediction.reason);
  if (format_ == RowFormat::json) {
    append_json(cells, out);
  } else {
    out += line_of(cells, delimiter_of(format_));
  }
}

void ScoreTable::append_json(const std::vector<std::string>& cells, std::string& out) const {
  const std::size_t input = columns_.size(), numbers_end = cells.size() - 2;
  const std::size_t per_target = task_.names.empty() ? 1 : (numbers_end - input) / task_.names.size();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    out += (c == 0 ? "{" : ",") + json_text(c < input ? columns_[c] : added_[c - input]) + ":";
    const bool is_number = c >= input && c < numbers_end &&
                           !(task_.kind == TaskKind::multiclass && (c - input) % per_target == 0);
    if (c >= input && c < numbers_end && cells[c].empty()) out += "null";
    else if (!is_number) out += json_text(cells[c]);
    else out += cells[c] == "nan" || cells[c].ends_with("inf") ? "null" : cells[c];   // JSON knows neither
  }
  out += "}\n";
}

}  // namespace molgraph
