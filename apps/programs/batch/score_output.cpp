#include "apps/programs/batch/score_output.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "apps/programs/shell/output_file.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/output_columns.hpp"

namespace molgraph {
namespace {

namespace oc = output_column;

/// A new column, before name collisions are resolved.
struct NewColumn {
  std::string name;
  bool is_number = true, is_list = false;
};

std::vector<NewColumn> output_columns(const Task& task, const ScoreColumns& shown) {
  std::vector<NewColumn> columns;
  const bool multiclass = task.kind == TaskKind::multiclass;
  const auto add = [&](std::string name, bool is_number = true, bool is_list = false) {
    columns.push_back({std::move(name), is_number, is_list});
  };
  for (std::size_t t = 0; t < task.names.size(); ++t) {
    const std::string& target = task.names[t];
    add(target + oc::kPrediction, !multiclass);
    std::vector<std::string> classes;
    for (int c = 0; multiclass && c < task.classes; ++c)
      classes.push_back(task.class_name(static_cast<std::size_t>(c)));
    for (const auto& label : classes) add(target + oc::kProbability + label);
    if (shown.runs > 1) {
      if (!multiclass) add(target + oc::kDeviation);
      for (const auto& label : classes) add(target + oc::kDeviation + "_" + label);
    }
    if (shown.interval && task.kind_of(t) == TaskKind::regression) add(target + oc::kLow), add(target + oc::kHigh);
    for (std::size_t r = 0; shown.individual && r < shown.runs; ++r) {
      const std::string run = "_" + std::to_string(r);
      if (!multiclass) add(target + oc::kPrediction + run);
      for (const auto& label : classes) add(target + oc::kProbability + label + run);
    }
    if (shown.explain.atoms) add(target + oc::kAtoms, false, true), add(target + oc::kBaseline);
    if (shown.explain.descriptors) add(target + oc::kDescriptors);
    if (shown.explain.blend) add(target + oc::kBlend);
    if (shown.explain.fragments) add(target + oc::kOfFragments, false, true);
  }
  if (shown.nearest) add(oc::kNearestDistance), add(oc::kNearestId, false);
  if (shown.domain) {
    add(oc::kSimilarity);
    if (shown.domain_labels != nullptr) {
      add(oc::kDomainId, false), add(oc::kDomainSmiles, false);
      for (const std::string& target : task.names) add(oc::kDomain + target, !multiclass);
    }
    add(oc::kPercentile);
    add(oc::kElementsSeen, false), add(oc::kRingsSeen, false);
  }
  if (shown.explain.rollout) add(oc::kRollout, false, true);
  if (shown.explain.fragments) add(oc::kFragmentOfAtom, false, true);
  add(oc::kStatus, false), add(oc::kReason, false);
  return columns;
}

/// The numbers separated by blanks.
std::string numbers_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + number_text(static_cast<float>(value));
  return text;
}

/// Converts numbers separated by blanks to a JSON list. Numbers that are not finite become null.
std::string list_text(const std::string& numbers) {
  std::istringstream words(numbers);
  std::string list;
  for (std::string word; words >> word;)
    list += (list.empty() ? "" : ",") + (word.find_first_of("ain") == std::string::npos ? word : "null");
  return "[" + list + "]";
}

/// The cells, quoted if necessary, and a line end.
std::string line_of(const std::vector<std::string>& cells, char delimiter) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += delimiter;
    line += quote_cell(cells[c], delimiter);
  }
  return line + "\n";
}

}  // namespace

std::optional<RowFormat> line_format_of(const std::string& path) {
  const std::string name = without_gz(path);
  if (name.ends_with(".csv")) return RowFormat::csv;
  if (name.ends_with(".tsv")) return RowFormat::tsv;
  if (name.ends_with(".jsonl")) return RowFormat::json;
  return std::nullopt;
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ScoreTable::ScoreTable(const std::vector<std::string>& input_columns, const Task& task,
                       std::vector<double> output_scale, const ScoreColumns& shown, RowFormat format)
    : task_(task), output_scale_(std::move(output_scale)), shown_(shown), format_(format), columns_(input_columns) {
  std::set<std::string> taken(input_columns.begin(), input_columns.end());
  if (format_ == RowFormat::json) {  // most readers keep only one of two equal keys
    std::set<std::string> keys;
    for (std::string& key : columns_) {
      if (keys.insert(key).second) continue;
      const std::string name = key;
      for (int number = 2; taken.contains(key = name + "_" + std::to_string(number)); ++number) {
      }
      taken.insert(key);
    }
  }
  for (NewColumn& column : output_columns(task, shown)) {
    while (!taken.insert(column.name).second) column.name.insert(0, oc::kTakenPrefix);
    added_.push_back(column.name);
    is_number_.push_back(column.is_number);
    is_list_.push_back(column.is_list);
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
  const auto add = [&](const std::vector<double>& values) {
    for (std::size_t o = first; o < first + width; ++o) cells.push_back(number_text(values[o], output_scale_[o]));
  };
  if (multiclass) {
    const double* row = prediction.values.data() + first;
    cells.push_back(task_.class_name(static_cast<std::size_t>(std::max_element(row, row + width) - row)));
  }
  add(prediction.values);
  if (shown_.runs > 1) add(prediction.deviation);
  if (shown_.interval && task_.kind_of(target) == TaskKind::regression)
    for (const double bound : {prediction.low[first], prediction.high[first]})
      cells.push_back(std::isnan(bound) ? "" : number_text(bound, output_scale_[first]));
  for (std::size_t r = 0; shown_.individual && r < shown_.runs; ++r) {
    add(prediction.members.empty() ? prediction.values : prediction.members[r]);
  }
}

void ScoreTable::append_explanation(const TargetExplanation& explanation, double scale,
                                    std::vector<std::string>& cells) const {
  const auto shown = [](double value) { return number_text(static_cast<float>(value)); };
  cells.push_back(numbers_text(explanation.atoms));
  cells.push_back(number_text(explanation.baseline, scale));
  if (shown_.explain.descriptors) cells.push_back(shown(explanation.descriptors));
  if (shown_.explain.blend) cells.push_back(shown(explanation.blend));
}

void ScoreTable::append_domain(const DomainPlace& place, std::vector<std::string>& cells) const {
  const auto number = [](double value) { return std::isnan(value) ? "" : number_text(static_cast<float>(value)); };
  const DomainLabels* labels = shown_.domain_labels;
  cells.push_back(number(place.similarity));
  if (labels != nullptr) {
    cells.push_back(labels->ids[place.nearest]);
    cells.push_back(labels->smiles[place.nearest]);
    for (std::size_t t = 0; t < task_.names.size(); ++t) {
      const double value = labels->values[place.nearest * task_.names.size() + t];
      const bool is_class = task_.kind == TaskKind::multiclass && !std::isnan(value);
      cells.push_back(is_class            ? task_.class_name(static_cast<std::size_t>(value))
                      : std::isnan(value) ? ""
                                          : number_text(value));
    }
  }
  cells.push_back(number(place.percentile));
  for (const bool seen : {place.elements_seen, place.rings_seen}) cells.emplace_back(seen ? "yes" : "no");
}

void ScoreTable::append(const TableRow& row, const ScoredRow& scored, std::string& out) const {
  std::vector<std::string> cells = row.cells;
  cells.resize(columns_.size());
  if (scored.status == RowStatus::ok) {
    for (std::size_t t = 0; t < task_.names.size(); ++t) {
      append_target(t, scored, cells);
      const std::size_t output = task_.kind == TaskKind::multiclass ? t * static_cast<std::size_t>(task_.classes) : t;
      if (shown_.explain.atoms) append_explanation(scored.explanation.targets[t], output_scale_[output], cells);
      if (shown_.explain.fragments) cells.push_back(numbers_text(scored.explanation.targets[t].fragments));
    }
    if (shown_.nearest) {
      cells.push_back(number_text(static_cast<float>(scored.nearest_distance)));
      cells.push_back(scored.nearest_id);
    }
    if (shown_.domain) append_domain(*scored.domain, cells);
    if (shown_.explain.rollout) cells.push_back(numbers_text(scored.explanation.rollout));
    if (shown_.explain.fragments)
      cells.push_back(numbers_text({scored.explanation.fragment.begin(), scored.explanation.fragment.end()}));
  }
  cells.resize(columns_.size() + added_.size() - 2);
  cells.emplace_back(to_string(scored.status));
  cells.push_back(scored.reason);
  if (format_ == RowFormat::json) {
    append_json(cells, scored.status == RowStatus::ok, out);
  } else {
    out += line_of(cells, delimiter_of(format_));
  }
}

void ScoreTable::append_json(const std::vector<std::string>& cells, bool ok, std::string& out) const {
  const std::size_t input = columns_.size(), numbers_end = cells.size() - 2;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    out += (c == 0 ? "{" : ",") + json_text(c < input ? columns_[c] : added_[c - input]) + ":";
    const bool is_number = c >= input && is_number_[c - input];
    const bool finite =
        is_number && !cells[c].empty() && cells[c] != "nan" && !cells[c].ends_with("inf");  // JSON has neither
    const bool is_list = c >= input && is_list_[c - input];
    if (c >= input && c < numbers_end && (!ok || (is_number && !finite))) out += "null";
    else if (is_list) out += list_text(cells[c]);
    else out += is_number ? cells[c] : json_text(cells[c]);
  }
  out += "}\n";
}

}  // namespace molgraph
