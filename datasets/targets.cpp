#include "datasets/targets.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "datasets/text.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxClasses = 1000;

/// "3.0" and "3" are one class, as a data frame with gaps writes whole numbers with a point.
std::string class_label(std::string_view cell) {
  const std::string_view text = trim(cell);
  const auto number = number_of_cell(text);
  const bool is_word = lower(text) == "true" || lower(text) == "false";
  if (number && !is_word && std::abs(*number) < 1e9 && *number == std::floor(*number))
    return std::to_string(static_cast<long long>(*number));
  return std::string(text);
}

/// Numbers by value if all labels are numbers, else by text.
std::vector<std::string> sorted_labels(const std::set<std::string>& labels) {
  std::vector<std::string> result(labels.begin(), labels.end());
  const auto is_number = [](const std::string& label) { return number_of_cell(label).has_value(); };
  if (std::ranges::all_of(result, is_number))
    std::ranges::stable_sort(result, {}, [](const std::string& label) { return *number_of_cell(label); });
  return result;
}

[[noreturn]] void throw_bad_number(const std::string& column, const CellPlace& place) {
  const std::string_view text = trim(place.text);
  const bool censored = text.find_first_of("<>~") == 0;
  throw DataError(place.file, place.row + 1,
                  "column '" + column + "' holds no number here" +
                      (censored ? "; a censored value cannot be trained on: give a number or leave it blank" : ""),
                  place.text);
}

[[noreturn]] void throw_decimal_comma(const ColumnStats& column) {
  throw DataError(column.first_text.file, column.first_text.row + 1,
                  "column '" + column.name + "' holds no number here; decimal commas are not understood: write points (1.5)",
                  column.first_text.text);
}

Task multiclass_task(const std::vector<ColumnStats>& stats, const std::vector<std::size_t>& columns) {
  std::set<std::string> labels;
  for (const std::size_t c : columns) {
    labels.insert(stats[c].labels.begin(), stats[c].labels.end());
    if (labels.size() > kMaxClasses)
      throw DataError("column '" + stats[c].name + "' has more than " + std::to_string(kMaxClasses) +
                      " classes; is it a regression?");
  }
  Task task;
  task.kind = TaskKind::multiclass;
  task.class_labels = sorted_labels(labels);
  task.classes = static_cast<int>(labels.size());
  return task;
}

void check_values(const ColumnStats& column, std::optional<TaskKind> kind) {
  if (column.filled == 0) throw DataError("column '" + column.name + "' holds no value at all");
  if (kind == TaskKind::multiclass) return;
  if (column.decimal_commas > 0) throw_decimal_comma(column);
  if (2 * column.numbers < column.filled)
    throw DataError(column.first_text.file, column.first_text.row + 1,
                    "column '" + column.name + "' is text (" + std::to_string(column.numbers) + " of " +
                        std::to_string(column.filled) +
                        " cells are numbers), so it cannot be a target; classes given as text need -t multiclass",
                    column.first_text.text);
  if (column.numbers < column.filled) throw_bad_number(column.name, column.first_text);
  if (kind == TaskKind::binary && column.first_not_binary.row >= 0)
    throw DataError(column.first_not_binary.file, column.first_not_binary.row + 1,
                    "column '" + column.name + "' is to be classified, but this is neither 0 nor 1",
                    column.first_not_binary.text);
}

}  // namespace

bool is_missing(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  constexpr std::array<std::string_view, 7> words{"nan", "-nan", "na", "n/a", "#n/a", "null", "<na>"};
  return std::ranges::find(words, lower(text)) != words.end();
}

std::optional<double> number_of_cell(std::string_view cell) {
  std::string_view text = trim(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stop == text.data() + text.size())
    return std::abs(number) <= std::numeric_limits<float>::max() ? std::optional(number) : std::nullopt;
  const std::string word = text.size() <= 5 ? lower(text) : std::string();
  if (word == "true") return 1.0;
  if (word == "false") return 0.0;
  return std::nullopt;
}

bool has_decimal_comma(std::string_view cell) {
  std::string_view text = trim(cell);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto comma = text.find(',');
  const auto is_digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return comma != std::string_view::npos && is_digits(text.substr(0, comma)) && is_digits(text.substr(comma + 1));
}

void ColumnStats::add(std::string_view cell, const std::string& file, std::int64_t row) {
  if (is_missing(cell)) return;
  ++filled;
  const auto number = number_of_cell(cell);
  numbers += number.has_value();
  if (!number && has_decimal_comma(cell)) ++decimal_commas;
  if (!number && first_text.row < 0) first_text = {file, std::string(cell.substr(0, 200)), row};
  if (first_not_binary.row < 0 && !(number && (*number == 0 || *number == 1)))
    first_not_binary = {file, std::string(cell.substr(0, 200)), row};
  if (keep_labels && labels.size() <= kMaxClasses) labels.insert(class_label(cell));
}

std::vector<int> candidate_columns(const std::vector<std::string>& columns, const std::vector<int>& not_targets) {
  constexpr std::array<std::string_view, 6> reserved{"id", "idx", "index", "row", "name", "weight"};
  std::vector<int> result;
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    const std::string name = lower(trim(columns[static_cast<std::size_t>(c)]));
    const bool is_reserved = name.empty() || name.starts_with("unnamed:") || name.find("split") != std::string::npos ||
                             std::ranges::find(reserved, name) != reserved.end();
    if (!is_reserved && std::ranges::find(not_targets, c) == not_targets.end()) result.push_back(c);
  }
  return result;
}

TargetChoice choose_targets(const std::vector<ColumnStats>& stats, bool named, std::optional<TaskKind> kind) {
  TargetChoice choice;
  for (std::size_t c = 0; c < stats.size(); ++c)
    if (named || (stats[c].filled > 0 && 2 * (stats[c].numbers + stats[c].decimal_commas) >= stats[c].filled))
      choice.columns.push_back(c);
  if (choice.columns.size() > kMostTargets)
    throw DataError(std::to_string(choice.columns.size()) + " columns would be targets, the limit is " +
                    std::to_string(kMostTargets) + "; name those that are meant with --target-columns");
  for (const std::size_t c : choice.columns) check_values(stats[c], kind);
  if (kind == TaskKind::multiclass) {
    choice.task = multiclass_task(stats, choice.columns);
  } else {
    const bool binary = !choice.columns.empty() && std::ranges::all_of(choice.columns, [&](std::size_t c) {
      return stats[c].first_not_binary.row < 0;
    });
    choice.task.kind = kind.value_or(binary ? TaskKind::binary : TaskKind::regression);
  }
  for (const std::size_t c : choice.columns) choice.task.names.emplace_back(trim(stats[c].name));
  choice.task.units.assign(choice.columns.size(), "");
  return choice;
}

TargetParser::TargetParser(const Task& task) : kind_(task.kind), names_(task.names) {
  for (std::size_t c = 0; c < task.class_labels.size(); ++c) classes_[task.class_labels[c]] = static_cast<int>(c);
}

double TargetParser::value(std::string_view cell, std::size_t target, const std::string& file, std::int64_t row) const {
  if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
  if (kind_ == TaskKind::multiclass) {
    const auto found = classes_.find(class_label(cell));
    if (found == classes_.end())
      throw DataError(file, row + 1, "column '" + names_[target] + "': unknown class", std::string(cell));
    return found->second;
  }
  const auto number = number_of_cell(cell);
  if (!number) throw_bad_number(names_[target], {file, std::string(cell), row});
  return *number;
}

}  // namespace molgraph
