#include "datasets/tables/targets.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "datasets/system/text.hpp"
#include "datasets/tables/labels.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxClasses = 1000;

constexpr std::size_t kWordsNamed = 5;  ///< columns named in one message

[[noreturn]] void throw_bad_number(const std::string& column, const CellPlace& place) {
  throw DataError(
      place.file, place.row + 1,
      "column '" + column + "' holds no number here" +
          (is_censored(place.text) ? "; behind a sign such as > stands one number, perhaps with its unit" : ""),
      place.text);
}

[[noreturn]] void throw_decimal_comma(const ColumnStats& column, bool named) {
  throw DataError(column.first_text.file, column.first_text.row + 1,
                  "column '" + column.name +
                      "' holds no number here; decimal commas are not understood: write points (1.5)" +
                      (named ? "" : "; if it is no target, name those that are with --target-columns"),
                  column.first_text.text);
}

std::set<std::string> labels_of(const std::vector<ColumnStats>& stats, const std::vector<std::size_t>& columns) {
  std::set<std::string> labels;
  for (const std::size_t c : columns) labels.insert(stats[c].labels.begin(), stats[c].labels.end());
  return labels;
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

[[noreturn]] void throw_at(const CellPlace& place, const std::string& what) {
  throw DataError(place.file, place.row + 1, what, place.text);
}

void check_values(const ColumnStats& column, std::optional<TaskKind> kind, bool named) {
  if (column.filled == 0) throw DataError("column '" + column.name + "' holds no value at all");
  if (kind == TaskKind::multiclass && column.numbers > 0 && column.censored > 0)
    throw_at(column.first_censored,
             "column '" + column.name + "' is to be classified, but this is a limit and no class");
  if (kind == TaskKind::multiclass || (kind == TaskKind::binary && column.is_binary())) return;
  if (column.decimal_commas > 0) throw_decimal_comma(column, named);
  if (!column.is_mostly_numbers()) {
    const bool two = column.labels.size() == 2 && column.numbers == 0;
    const std::string advice = kind == TaskKind::mixed ? "classes beside numbers are 1 and 0, yes and no and the like"
                               : two && kind == TaskKind::binary
                                   ? "its labels are " + list_of(sorted_labels(column.labels)) +
                                         ": --positive LABEL says which is the positive one"
                                   : "classes given as text need -t multiclass, or --positive LABEL if they are two";
    throw DataError(column.first_text.file, column.first_text.row + 1,
                    "column '" + column.name + "' is text (" + std::to_string(column.numbers) + " of " +
                        std::to_string(column.filled) + " cells are numbers), so it cannot be a target; " + advice,
                    column.first_text.text);
  }
  if (column.numbers + column.censored < column.filled) throw_bad_number(column.name, column.first_text);
  if (column.other_unit.row >= 0)
    throw_at(column.other_unit, "column '" + column.name + "' has another unit here than '" + column.unit +
                                    "' in row " + std::to_string(column.first_unit.row + 1));
  if (kind == TaskKind::binary && column.first_not_binary.row >= 0)
    throw DataError(column.first_not_binary.file, column.first_not_binary.row + 1,
                    "column '" + column.name + "' is to be classified, but this is neither 0 nor 1",
                    column.first_not_binary.text);
}

/// "'a', 'b' ... and 3 more".
std::string quoted(const std::vector<ColumnStats>& stats, const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t c : columns) names.push_back("'" + std::string(trim(stats[c].name)) + "'");
  return list_of(names, kWordsNamed);
}

/// The columns that nobody named: numbers, else binary words, else those that hold the positive label.
std::vector<std::size_t> find_columns(const std::vector<ColumnStats>& stats, const TargetWishes& wishes,
                                      std::vector<std::string>& notes) {
  std::vector<std::size_t> chosen, words;
  bool other_numbers = false;
  for (std::size_t c = 0; c < stats.size(); ++c) {
    if (!wishes.positive.empty()) {
      if (!labels_with_positive(stats[c].labels, wishes.positive).empty()) chosen.push_back(c);
    } else if (stats[c].is_found()) {
      chosen.push_back(c);
      other_numbers = other_numbers || !stats[c].is_binary();
    } else if (stats[c].is_binary() &&
               (wishes.kind.value_or(TaskKind::binary) == TaskKind::binary || wishes.kind == TaskKind::mixed)) {
      chosen.push_back(c);
      words.push_back(c);
    }
  }
  if (wishes.kind || !other_numbers || words.empty()) return chosen;
  std::erase_if(chosen, [&](std::size_t c) { return std::ranges::find(words, c) != words.end(); });
  notes.push_back("left out, as labels beside numbers: " + quoted(stats, words) + "; --target-columns takes them");
  return chosen;
}

/// Columns with numbers, or limits such as ">50", that are not among the targets because most of their cells are none.
void warn_of_left_out(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < stats.size(); ++c) {
    const ColumnStats& column = stats[c];
    if (column.numbers + column.censored == 0 || column.is_binary() || column.is_found() ||
        std::ranges::find(choice.columns, c) != choice.columns.end())
      continue;
    texts.push_back("'" + std::string(trim(column.name)) + "' (" + std::to_string(column.numbers) + " of " +
                    std::to_string(column.filled) + " cells are numbers, " + std::to_string(column.censored) +
                    " censored" +
                    (column.censored == 0 ? ""
                                          : ", such as " + std::string(trim(column.first_censored.text)) + " in row " +
                                                std::to_string(column.first_censored.row + 1)) +
                    ")");
  }
  if (texts.empty()) return;
  choice.warnings.push_back(
      (texts.size() == 1 ? "a column is" : std::to_string(texts.size()) + " columns are") +
      " left out of the targets, as fewer than half of the filled cells are numbers, or none is exact: " +
      list_of(texts, kWordsNamed));
}

/// Cells that are read as more than they say.
void warn_of_signs(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::string> approximate, units;
  for (const std::size_t c : choice.columns) {
    const ColumnStats& column = stats[c];
    const std::string name = "'" + std::string(trim(column.name)) + "'";
    if (column.approximate > 0)
      approximate.push_back(name + " (" + std::to_string(column.approximate) + ", such as " +
                            std::string(trim(column.first_approximate.text)) + " in row " +
                            std::to_string(column.first_approximate.row + 1) + ")");
    if (!column.unit.empty())
      units.push_back(name + " (" + column.unit + " in row " + std::to_string(column.first_unit.row + 1) + ")");
  }
  if (!approximate.empty())
    choice.warnings.push_back("approximate values count as if they were exact: " + list_of(approximate, kWordsNamed));
  if (!units.empty())
    choice.warnings.push_back("a unit behind a sign and a number is taken for that of the whole column: " +
                              list_of(units, kWordsNamed));
}

/// Of each chosen column what its cells say: binary or regression.
std::vector<TaskKind> kinds_of(const std::vector<ColumnStats>& stats, const std::vector<std::size_t>& columns) {
  std::vector<TaskKind> kinds;
  for (const std::size_t c : columns) kinds.push_back(stats[c].is_binary() ? TaskKind::binary : TaskKind::regression);
  return kinds;
}

/// 0 and 1 beside other numbers are fitted as numbers, which not everybody expects.
void note_numbers_that_may_be_classes(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::size_t> having;
  for (const std::size_t c : choice.columns)
    if (stats[c].is_binary()) having.push_back(c);
  if (!having.empty())
    choice.notes.push_back("0 and 1 beside other numbers are fitted as numbers: " + quoted(stats, having) +
                           "; -t mixed classifies them");
}

/// One of the labels is said to be the positive one.
void choose_positive(const std::vector<ColumnStats>& stats, const TargetWishes& wishes, TargetChoice& choice) {
  for (const std::size_t c : choice.columns)
    if (stats[c].filled == 0) throw DataError("column '" + stats[c].name + "' holds no value at all");
  const std::set<std::string> labels = labels_of(stats, choice.columns);
  choice.task.kind = TaskKind::binary;
  choice.task.class_labels = labels_with_positive(labels, wishes.positive);
  if (choice.task.class_labels.empty())
    throw DataError("--positive " + wishes.positive + ": " +
                    (choice.columns.empty() ? std::string("no column holds it and one other label")
                                            : "the labels of " + quoted(stats, choice.columns) +
                                                  " must be it and one other, but they are " +
                                                  list_of(sorted_labels(labels), kWordsNamed)));
  const std::string &zero = choice.task.class_labels[0], &one = choice.task.class_labels[1];
  choice.notes.push_back("binary labels in " + quoted(stats, choice.columns) + ": " + one + " is 1, " +
                         (zero.empty() ? "nothing" : zero) + " is 0");
}

/// Words whose meaning is known: said, and kept where all targets have the same pair.
void note_binary_labels(const std::vector<ColumnStats>& stats, bool kind_is_given, TargetChoice& choice) {
  unsigned all = 0;
  for (const std::size_t c : choice.columns)
    if (stats[c].is_binary()) all |= stats[c].pairs;
  for (std::uint8_t pair = 0; pair < kPairs; ++pair) {
    std::vector<std::size_t> having;
    for (const std::size_t c : choice.columns)
      if (stats[c].is_binary() && (stats[c].pairs >> pair & 1u) != 0) having.push_back(c);
    if (having.empty() || (pair == kNumberPair && kind_is_given)) continue;
    const std::vector<std::string> words = words_of_pair(pair);
    choice.notes.push_back(
        "binary labels in " + quoted(stats, having) + ": " +
        (pair == kNumberPair ? "1 and 0 (as numbers: -t regression)" : words[1] + " is 1, " + words[0] + " is 0"));
    if (pair != kNumberPair && all == 1u << pair) choice.task.class_labels = words;
  }
}

}  // namespace

bool is_missing(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  constexpr std::array<std::string_view, 9> words{"-", "nan", "-nan", "na", "n/a", "#n/a", "null", "none", "<na>"};
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

float weight_of_cell(std::string_view cell, const std::string& column, const std::string& file, std::int64_t row) {
  const auto number = number_of_cell(cell);
  if (number && *number >= 0) return static_cast<float>(*number);
  throw DataError(file, row + 1, "column '" + column + "' holds no weight here: a number of 0 or more",
                  std::string(cell));
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
  const auto limit = number ? std::nullopt : censored_number(cell);
  const auto keep_first = [&](CellPlace& place) {
    if (place.row < 0) place = {file, std::string(cell.substr(0, 200)), row};
  };
  numbers += number || (limit && limit->bound == 0);
  if (!number && has_decimal_comma(cell)) ++decimal_commas;
  if (!number && !limit) keep_first(first_text);
  if (limit && limit->bound != 0) ++censored, keep_first(first_censored);
  if (limit && limit->approximate && limit->bound == 0) ++approximate, keep_first(first_approximate);
  if (limit && !limit->unit.empty()) {
    keep_first(first_unit);
    if (unit.empty()) unit = limit->unit;
    else if (unit != limit->unit) keep_first(other_unit);
  }
  if (first_not_binary.row < 0) {
    if (const auto label = binary_label(cell)) pairs |= 1u << label->pair;
    else first_not_binary = {file, std::string(cell.substr(0, 200)), row};
  }
  if (keep_labels ? labels.size() <= kMaxClasses : !number && labels.size() <= 2) labels.insert(class_label(cell));
}

bool is_output_column(std::string_view name, const std::vector<std::string>& columns) {
  constexpr std::array<std::string_view, 10> whole{
      "status",    "reason",        "nearest_id",        "nearest_distance",     "domain_similarity",
      "domain_id", "domain_smiles", "domain_percentile", "domain_elements_seen", "domain_rings_seen"};
  constexpr std::array<std::string_view, 5> beside{"_low", "_high", "_baseline", "_descriptors", "_blend"};
  std::string text = lower(trim(name));
  if (text.starts_with("molgraph_") || text.find("_prob_") != std::string::npos) return true;
  if (std::ranges::find(whole, text) != whole.end()) return true;
  const auto is_predicted = [&](const std::string& target) {
    return std::ranges::any_of(columns, [&](const std::string& one) { return lower(trim(one)) == target + "_pred"; });
  };
  for (const std::string_view end : beside)
    if (text.ends_with(end) && is_predicted(text.substr(0, text.size() - end.size()))) return true;
  if (constexpr std::string_view kDomain = "domain_";
      text.starts_with(kDomain) && is_predicted(text.substr(kDomain.size())))
    return true;
  // y_pred_0 and y_std_0: one member of an ensemble
  const auto digits = text.find_last_not_of("0123456789");
  if (digits != std::string::npos && digits + 1 < text.size() && text[digits] == '_') text.resize(digits);
  return text.ends_with("_pred") || text.ends_with("_std");
}

std::vector<int> candidate_columns(const std::vector<std::string>& columns, const std::vector<int>& not_targets) {
  constexpr std::array<std::string_view, 6> reserved{"id", "idx", "index", "row", "name", "weight"};
  std::vector<int> result;
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    const std::string name = lower(trim(columns[static_cast<std::size_t>(c)]));
    const bool is_reserved = name.empty() || name.starts_with("unnamed:") || name.find("split") != std::string::npos ||
                             std::ranges::find(reserved, name) != reserved.end();
    if (!is_reserved && !is_output_column(name, columns) && std::ranges::find(not_targets, c) == not_targets.end())
      result.push_back(c);
  }
  return result;
}

TargetChoice choose_targets(const std::vector<ColumnStats>& stats, const TargetWishes& wishes) {
  if (!wishes.positive.empty() && wishes.kind.value_or(TaskKind::binary) != TaskKind::binary)
    throw UsageError("--positive is of classification, not of " + std::string(to_string(*wishes.kind)));
  TargetChoice choice;
  if (wishes.named) {
    for (std::size_t c = 0; c < stats.size(); ++c) choice.columns.push_back(c);
  } else {
    choice.columns = find_columns(stats, wishes, choice.notes);
    warn_of_left_out(stats, choice);
  }
  if (choice.columns.size() > kMostTargets)
    throw DataError(std::to_string(choice.columns.size()) + " columns would be targets, the limit is " +
                    std::to_string(kMostTargets) + "; name those that are meant with --target-columns");
  const auto all_columns = [&](const auto& condition) {
    return !choice.columns.empty() &&
           std::ranges::all_of(choice.columns, [&](std::size_t c) { return condition(stats[c]); });
  };
  std::optional<TaskKind> kind = wishes.kind;
  if (!kind && all_columns([](const ColumnStats& c) { return c.is_binary(); })) kind = TaskKind::binary;
  const auto is_text = [](const ColumnStats& c) { return c.filled > 0 && c.numbers + c.decimal_commas == 0; };
  const bool two_words = !kind && all_columns(is_text) && labels_of(stats, choice.columns).size() == 2;
  if (!wishes.positive.empty()) {
    choose_positive(stats, wishes, choice);
  } else {
    if (two_words) kind = TaskKind::multiclass;
    // Words beside numbers were no targets of one kind.
    const auto is_words = [&](std::size_t c) { return stats[c].is_binary() && stats[c].numbers < stats[c].filled; };
    if (!kind && wishes.named && std::ranges::any_of(choice.columns, is_words)) kind = TaskKind::mixed;
    const bool by_column = kind == TaskKind::mixed;
    for (const std::size_t c : choice.columns)
      check_values(stats[c], by_column && stats[c].is_binary() ? TaskKind::binary : kind, wishes.named);
    if (kind == TaskKind::multiclass) choice.task = multiclass_task(stats, choice.columns);
    choice.task.kind = kind.value_or(TaskKind::regression);
    if (by_column) choice.task.set_kinds(kinds_of(stats, choice.columns));
    if (!kind) note_numbers_that_may_be_classes(stats, choice);
    if (kind == TaskKind::binary || by_column) note_binary_labels(stats, wishes.kind || by_column, choice);
    if (two_words)
      choice.notes.push_back(quoted(stats, choice.columns) + ": two classes of multiclass, " +
                             list_of(choice.task.class_labels) +
                             "; --positive LABEL makes one of them the positive label");
  }
  if (choice.task.has(TaskKind::regression)) warn_of_signs(stats, choice);
  for (const std::size_t c : choice.columns) choice.task.names.emplace_back(trim(stats[c].name));
  choice.task.units.assign(choice.columns.size(), "");
  return choice;
}

TargetParser::TargetParser(const Task& task) : task_(task) {
  for (std::size_t c = 0; c < task.class_labels.size(); ++c) {
    const std::string& label = task.class_labels[c];
    classes_[task.kind == TaskKind::multiclass ? label : lower(label)] = static_cast<int>(c);
  }
}

Label TargetParser::label(std::string_view cell, std::size_t target, const std::string& file, std::int64_t row) const {
  if (is_missing(cell)) return {std::numeric_limits<double>::quiet_NaN()};
  const TaskKind kind = task_.kind_of(target);
  if (kind == TaskKind::multiclass) {
    const auto found = classes_.find(class_label(cell));
    if (found == classes_.end())
      throw DataError(file, row + 1, "column '" + task_.names[target] + "': unknown class", std::string(cell));
    return {static_cast<double>(found->second)};
  }
  if (kind == TaskKind::binary) {
    const auto found = classes_.empty() ? classes_.end() : classes_.find(lower(class_label(cell)));
    if (found != classes_.end()) return {static_cast<double>(found->second)};
    if (const auto label = binary_label(cell)) return {label->positive ? 1.0 : 0.0};
  }
  if (const auto number = number_of_cell(cell)) return {*number};
  const auto limit = kind == TaskKind::regression ? censored_number(cell) : std::nullopt;
  if (!limit) throw_bad_number(task_.names[target], {file, std::string(cell), row});
  return {limit->number, static_cast<std::int8_t>(limit->bound)};
}

}  // namespace molgraph
