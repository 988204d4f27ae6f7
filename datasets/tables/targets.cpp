#include "datasets/tables/targets.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "datasets/system/text.hpp"
#include "datasets/tables/labels.hpp"
#include "datasets/tables/not_targets.hpp"
#include "datasets/tables/target_parser.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxListed = 5;  ///< maximum number of columns named in one message

/// Returns "1,000 may have a thousands separator (write 1000) or a decimal comma (write 1.000)".
std::string two_readings(const CellPlace& place) {
  const auto number = measured_number(place.text);
  const std::string digits(number ? number->digits : trim(place.text));
  std::string thousands = digits, decimals = digits;
  std::erase(thousands, ',');
  std::ranges::replace(decimals, ',', '.');
  return digits + " may have a thousands separator (write " + thousands + ") or a decimal comma (write " + decimals +
         ")";
}

[[noreturn]] void throw_at(const CellPlace& place, const std::string& what) {
  throw DataError(place.file, place.row + 1, what, place.text);
}

const char* if_not_named(bool named) {
  return named ? "" : "; if it is not a target, name the targets with --target-columns";
}

/// Checks for commas that are not, or may not be, thousands separators.
void check_commas(const ColumnStats& column, bool named) {
  const auto fail = [&](const CellPlace& place, const std::string& what) {
    throw_at(place, "column '" + column.name + "' " + what + if_not_named(named));
  };
  if (column.decimal_commas > 0 && !column.first_thousands.exists())
    fail(column.first_decimal_comma,
         "has a cell that is not a number; decimal commas are not supported: write decimal points (1.5)");
  if (!column.first_thousands.exists()) return;
  const std::string first = "'" + std::string(trim(column.first_thousands.text)) + "'";
  if (column.decimal_commas > 0)
    fail(column.first_decimal_comma,
         "has a decimal comma here, so " + first + " in row " + std::to_string(column.first_thousands.row + 1) +
             " may also have one; decimal commas are not supported: write decimal points (1.5)");
  if (column.first_large.exists())
    fail(column.first_thousands, "has a comma here, but not in '" + std::string(trim(column.first_large.text)) +
                                     "' in row " + std::to_string(column.first_large.row + 1) + ": " +
                                     two_readings(column.first_thousands));
  if (!column.thousands_are_clear())
    fail(column.first_thousands, "has ambiguous commas: " + two_readings(column.first_thousands));
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
                      " classes; is it a regression target?");
  }
  if (!columns.empty() && labels.size() < 2)
    throw DataError("column '" + stats[columns.front()].name + "' has only the class '" +
                    (labels.empty() ? "" : *labels.begin()) +
                    "'; a classification target needs at least two. Cells such as 'none' and '-' count as missing");
  Task task;
  task.kind = TaskKind::multiclass;
  task.class_labels = sorted_labels(labels);
  task.classes = static_cast<int>(labels.size());
  return task;
}

void warn_of_case(TargetChoice& choice) {
  std::map<std::string, std::vector<std::string>> spellings;
  for (const std::string& label : choice.task.class_labels) spellings[lower(label)].push_back(label);
  for (const auto& [word, labels] : spellings)
    if (labels.size() > 1) choice.warnings.push_back("classes differ only in case: " + list_of(labels, kMaxListed));
}

/// All targets have the same list of classes. Reports targets that lack some of them.
void warn_of_shared_classes(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  const auto all = static_cast<std::size_t>(choice.task.classes);
  std::vector<std::string> fewer;
  for (const std::size_t c : choice.columns)
    if (stats[c].labels.size() < all)
      fewer.push_back("'" + std::string(trim(stats[c].name)) + "' (" + std::to_string(stats[c].labels.size()) + ")");
  if (!fewer.empty())
    choice.warnings.push_back("the targets share one list of " + std::to_string(all) +
                              " classes, but these contain fewer, so they may be predicted to have classes of other "
                              "targets: " +
                              list_of(fewer, kMaxListed) + "; to prevent this, train a model for each target");
}

/// Throws DataError if the units differ, or if only some of the exact numbers have a unit.
void check_units(const ColumnStats& column) {
  const std::string name = "column '" + column.name + "' ",
                    advice = column.may_be_text() ? "; for classes, use -t multiclass" : "";
  if (column.with_unit > 0 && column.first_bare.exists())
    throw_at(column.first_bare, name + "has no unit here, but '" + column.unit + "' in row " +
                                    std::to_string(column.first_unit.row + 1) + advice);
  if (column.other_unit.exists())
    throw_at(column.other_unit, name + "has a unit here that differs from '" + column.unit + "' in row " +
                                    std::to_string(column.first_unit.row + 1) + advice);
}

void check_values(const ColumnStats& column, std::optional<TaskKind> kind, bool named) {
  if (column.filled == 0) throw DataError("column '" + column.name + "' has no values");
  if (kind == TaskKind::multiclass && column.numbers > 0 && column.censored > 0)
    throw_at(column.first_censored,
             "column '" + column.name + "' is a classification target, but this cell is a limit, not a class");
  if (kind == TaskKind::multiclass || (kind == TaskKind::binary && column.is_binary())) return;
  check_commas(column, named);
  if (!column.first_text.exists()) check_units(column);
  if (!column.is_mostly_numbers()) {
    const bool two = column.labels.size() == 2 && column.exact() == 0;
    const std::string advice =
        kind == TaskKind::mixed           ? "in a mixed task, classes must be 1 and 0, yes and no or similar pairs"
        : two && kind == TaskKind::binary ? "its labels are " + list_of(sorted_labels(column.labels)) +
                                                ": specify the positive one with --positive LABEL"
                                          : "if all targets are text, use -t multiclass (two labels: --positive LABEL)";
    throw_at(column.first_text, "column '" + column.name + "' is text (" + std::to_string(column.exact()) + " of " +
                                    std::to_string(column.filled) + " cells are numbers), so it cannot be a target; " +
                                    advice);
  }
  if (column.first_text.exists()) throw_bad_number(column.name, column.first_text);
  if (kind == TaskKind::binary && column.first_not_binary.exists())
    throw_at(column.first_not_binary,
             "column '" + column.name + "' is a classification target, but this cell is neither 0 nor 1");
  if (column.first_true_or_false.exists() && !column.is_binary())
    throw_at(column.first_true_or_false, "column '" + column.name + "' has a cell that is not a number, unlike '" +
                                             column.first_not_binary.text + "'" + if_not_named(named));
}

/// Returns "'a', 'b' ... and 3 more".
std::string quoted(const std::vector<ColumnStats>& stats, const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t c : columns) names.push_back("'" + std::string(trim(stats[c].name)) + "'");
  return list_of(names, kMaxListed);
}

/// Removes columns that are not measurements. If no other column remains, keeps those that only their values rule out.
void leave_out_unmeasured(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::size_t> measured, by_values;
  std::vector<std::string> names, values;
  for (const std::size_t c : choice.columns) {
    const NotMeasured reason = why_not_measured(stats[c]);
    if (reason.why.empty()) {
      measured.push_back(c);
      continue;
    }
    if (!reason.by_name) by_values.push_back(c);
    (reason.by_name ? names : values).push_back("'" + std::string(trim(stats[c].name)) + "' (" + reason.why + ")");
  }
  const bool keep_by_values = measured.empty() && !by_values.empty();
  choice.columns = keep_by_values ? by_values : measured;
  if (keep_by_values) {
    choice.warnings.push_back("probably not measurements, but used as targets because there are no other columns: " +
                              list_of(values, kMaxListed));
  } else {
    names.insert(names.end(), values.begin(), values.end());
  }
  if (names.empty()) return;
  // If no target remains, the reason belongs to the error.
  (choice.columns.empty() ? choice.warnings : choice.notes)
      .push_back("left out of the targets: " + list_of(names, kMaxListed) + "; use --target-columns to include them");
}

/// Finds targets if the user named none: numbers or, if there are none, binary words; columns with the positive label.
void find_columns(const std::vector<ColumnStats>& stats, const TargetRequest& request, TargetChoice& choice) {
  std::vector<std::size_t>& chosen = choice.columns;
  for (std::size_t c = 0; c < stats.size(); ++c) {
    if (stats[c].is_watched) continue;
    const bool takes_words =
        request.kind.value_or(TaskKind::binary) == TaskKind::binary || request.kind == TaskKind::mixed;
    if (!request.positive.empty() ? !labels_with_positive(stats[c].labels, request.positive).empty()
                                  : stats[c].is_found() || (stats[c].is_binary() && takes_words))
      chosen.push_back(c);
  }
  if (request.own_table) leave_out_unmeasured(stats, choice);
  if (!request.positive.empty() || request.kind) return;
  const auto is_word = [&](std::size_t c) { return !stats[c].is_found(); };
  if (std::ranges::all_of(chosen, [&](std::size_t c) { return is_word(c) || stats[c].is_binary(); })) return;
  std::vector<std::size_t> words;
  std::ranges::copy_if(chosen, std::back_inserter(words), is_word);
  if (words.empty()) return;
  std::erase_if(chosen, is_word);
  choice.notes.push_back("left out because they contain labels and other columns contain numbers: " +
                         quoted(stats, words) + "; use --target-columns to include them");
}

/// Warns about columns that contain numbers or limits such as ">50" but are not targets, because most of their cells
/// are not numbers or because their units differ.
void warn_of_left_out(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < stats.size(); ++c) {
    const ColumnStats& column = stats[c];
    if (column.is_watched || column.is_binary() || column.is_found() ||
        std::ranges::find(choice.columns, c) != choice.columns.end())
      continue;
    const std::string name = "'" + std::string(trim(column.name)) + "' (";
    if (column.with_unit > 0) {
      if (column.may_be_text() || column.has_one_unit() || column.first_text.exists()) continue;
      const CellPlace& differing = column.other_unit.exists() ? column.other_unit : column.first_bare;
      texts.push_back(name + "its units differ: " + std::string(trim(column.first_unit.text)) + " in row " +
                      std::to_string(column.first_unit.row + 1) + ", " + std::string(trim(differing.text)) +
                      " in row " + std::to_string(differing.row + 1) + ")");
    } else if (column.numbers + column.censored > 0) {
      texts.push_back(name + std::to_string(column.numbers) + " of " + std::to_string(column.filled) +
                      " cells are numbers, " + std::to_string(column.censored) + " censored" +
                      (column.censored == 0 ? ""
                                            : ", such as " + std::string(trim(column.first_censored.text)) +
                                                  " in row " + std::to_string(column.first_censored.row + 1)) +
                      ")");
    }
  }
  if (texts.empty()) return;
  choice.warnings.push_back((texts.size() == 1
                                 ? "a column with numbers may be a target"
                                 : std::to_string(texts.size()) + " columns with numbers may be targets") +
                            std::string(" but cannot be used as such: ") + list_of(texts, kMaxListed));
}

/// Reports cells with signs, units or commas that require an interpretation.
void warn_of_signs(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::string> approximate, units;
  for (const std::size_t c : choice.columns) {
    const ColumnStats& column = stats[c];
    const std::string name = "'" + std::string(trim(column.name)) + "'";
    if (column.approximate > 0)
      approximate.push_back(name + " (" + std::to_string(column.approximate) + ", such as " +
                            std::string(trim(column.first_approximate.text)) + " in row " +
                            std::to_string(column.first_approximate.row + 1) + ")");
    if (column.first_thousands.exists())
      choice.notes.push_back("commas in " + name +
                             " separate thousands: " + std::string(trim(column.first_thousands.text)) + " in row " +
                             std::to_string(column.first_thousands.row + 1));
    if (column.has_one_unit()) choice.notes.push_back("the unit of " + name + " is " + column.unit);
    else if (!column.unit.empty())
      units.push_back(name + " (" + column.unit + " in row " + std::to_string(column.first_unit.row + 1) + ")");
  }
  if (!approximate.empty())
    choice.warnings.push_back("approximate values are treated as exact: " + list_of(approximate, kMaxListed));
  if (!units.empty())
    choice.warnings.push_back("the unit of values with a sign is used for the whole column: " +
                              list_of(units, kMaxListed));
}

/// Returns binary or regression for each chosen column, according to its cells.
std::vector<TaskKind> kinds_of(const std::vector<ColumnStats>& stats, const std::vector<std::size_t>& columns) {
  std::vector<TaskKind> kinds;
  for (const std::size_t c : columns) kinds.push_back(stats[c].is_binary() ? TaskKind::binary : TaskKind::regression);
  return kinds;
}

/// 0 and 1 become regression targets if other targets are numbers, which the user may not expect.
void note_numbers_that_may_be_classes(const std::vector<ColumnStats>& stats, TargetChoice& choice) {
  std::vector<std::size_t> matching;
  for (const std::size_t c : choice.columns)
    if (stats[c].is_binary()) matching.push_back(c);
  if (!matching.empty())
    choice.notes.push_back("0 and 1 are treated as numbers because other targets are numbers: " +
                           quoted(stats, matching) + "; use -t mixed to classify them");
}

/// Applies the label that the user specified as the positive one.
void choose_positive(const std::vector<ColumnStats>& stats, const TargetRequest& request, TargetChoice& choice) {
  for (const std::size_t c : choice.columns)
    if (stats[c].filled == 0) throw DataError("column '" + stats[c].name + "' has no values");
  const std::set<std::string> labels = labels_of(stats, choice.columns);
  choice.task.kind = TaskKind::binary;
  choice.task.class_labels = labels_with_positive(labels, request.positive);
  if (choice.task.class_labels.empty())
    throw DataError(
        "--positive " + request.positive + ": " +
        (choice.columns.empty()
             ? std::string("no column has this label and exactly one other")
             : "the labels of " + quoted(stats, choice.columns) + " must be this label and one other, but they are " +
                   list_of(sorted_labels(labels), kMaxListed) + " (cells such as 'none' and '-' are missing)"));
  const std::string &zero = choice.task.class_labels[0], &one = choice.task.class_labels[1];
  choice.notes.push_back("binary labels in " + quoted(stats, choice.columns) + ": " + one + " is 1, " + zero + " is 0");
}

/// Reports words with a known meaning, and keeps them if all targets have the same pair.
void note_binary_labels(const std::vector<ColumnStats>& stats, bool kind_is_given, TargetChoice& choice) {
  unsigned all = 0;
  for (const std::size_t c : choice.columns)
    if (stats[c].is_binary()) all |= stats[c].pairs;
  for (std::uint8_t pair = 0; pair < kPairs; ++pair) {
    std::vector<std::size_t> matching;
    for (const std::size_t c : choice.columns)
      if (stats[c].is_binary() && (stats[c].pairs >> pair & 1u) != 0) matching.push_back(c);
    if (matching.empty() || (pair == kNumberPair && kind_is_given)) continue;
    const std::vector<std::string> words = words_of_pair(pair);
    choice.notes.push_back("binary labels in " + quoted(stats, matching) + ": " +
                           (pair == kNumberPair ? "1 and 0 (use -t regression to treat them as numbers)"
                                                : words[1] + " is 1, " + words[0] + " is 0"));
    if (pair != kNumberPair && all == 1u << pair) choice.task.class_labels = words;
  }
}

}  // namespace

std::vector<int> candidate_columns(const std::vector<std::string>& columns, const OutputColumns& outputs,
                                   const std::vector<int>& not_targets) {
  constexpr std::array<std::string_view, 6> reserved{"id", "idx", "index", "row", "name", "weight"};
  std::vector<int> result;
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    const std::string name = lower(trim(columns[static_cast<std::size_t>(c)]));
    const bool is_reserved = name.empty() || name.starts_with("unnamed:") || name.find("split") != std::string::npos ||
                             std::ranges::find(reserved, name) != reserved.end();
    if (!is_reserved && !outputs.contains(name) && std::ranges::find(not_targets, c) == not_targets.end())
      result.push_back(c);
  }
  return result;
}

bool wants_all_targets(const std::vector<std::string>& named, const std::vector<std::string>& columns) {
  const auto is_all = [](const std::string& name) { return lower(trim(name)) == "all"; };
  return named.size() == 1 && is_all(named[0]) && std::ranges::none_of(columns, is_all);
}

TargetChoice choose_targets(const std::vector<ColumnStats>& stats, const TargetRequest& request) {
  if (!request.positive.empty() && request.kind.value_or(TaskKind::binary) != TaskKind::binary)
    throw UsageError("--positive applies to classification, not to " + std::string(to_string(*request.kind)));
  TargetChoice choice;
  if (request.named) {
    for (std::size_t c = 0; c < stats.size(); ++c)
      if (!stats[c].is_watched) choice.columns.push_back(c);
  } else {
    find_columns(stats, request, choice);
    warn_of_left_out(stats, choice);
  }
  for (const ColumnStats& column : stats)
    if (request.hint_at_parts && column.names_parts())
      choice.notes.push_back("'" + std::string(trim(column.name)) + "' contains the sets of a split; --splits-column " +
                             std::string(trim(column.name)) + " uses them");
  if (!request.named && request.own_table && !request.all && choice.columns.size() > kMaxFoundTargets)
    throw UsageError(std::to_string(choice.columns.size()) +
                     " columns could be targets: " + quoted(stats, choice.columns) +
                     "; name the targets with --target-columns (--target-columns all uses all of them)");
  if (choice.columns.size() > kMaxTargets)
    throw DataError(std::to_string(choice.columns.size()) + " columns would be targets, but the limit is " +
                    std::to_string(kMaxTargets) + "; name the targets with --target-columns");
  const auto all_columns = [&](const auto& condition) {
    return !choice.columns.empty() &&
           std::ranges::all_of(choice.columns, [&](std::size_t c) { return condition(stats[c]); });
  };
  std::optional<TaskKind> kind = request.kind;
  if (!kind && all_columns([](const ColumnStats& c) { return c.is_binary(); })) kind = TaskKind::binary;
  const auto is_text = [](const ColumnStats& c) {
    return c.filled > 0 && c.numbers + c.decimal_commas == 0 && (c.with_unit == 0 || c.may_be_text());
  };
  const bool two_words = !kind && all_columns(is_text) && labels_of(stats, choice.columns).size() == 2;
  if (!request.positive.empty()) {
    choose_positive(stats, request, choice);
  } else {
    if (two_words) kind = TaskKind::multiclass;
    // Named columns with words and others with numbers cannot be targets of one kind.
    const auto is_words = [&](std::size_t c) { return stats[c].is_binary() && stats[c].numbers < stats[c].filled; };
    if (!kind && request.named && std::ranges::any_of(choice.columns, is_words)) kind = TaskKind::mixed;
    const bool by_column = kind == TaskKind::mixed;
    for (const std::size_t c : choice.columns)
      check_values(stats[c], by_column && stats[c].is_binary() ? TaskKind::binary : kind, request.named);
    if (kind == TaskKind::multiclass) {
      choice.task = multiclass_task(stats, choice.columns);
      warn_of_case(choice);
      warn_of_shared_classes(stats, choice);
    }
    choice.task.kind = kind.value_or(TaskKind::regression);
    if (by_column) choice.task.set_kinds(kinds_of(stats, choice.columns));
    if (!kind) note_numbers_that_may_be_classes(stats, choice);
    if (kind == TaskKind::binary || by_column) note_binary_labels(stats, request.kind || by_column, choice);
    if (two_words)
      choice.notes.push_back(quoted(stats, choice.columns) + ": multiclass with two classes, " +
                             list_of(choice.task.class_labels) +
                             "; for a binary target, specify the positive one with --positive LABEL");
  }
  if (choice.task.has(TaskKind::regression)) warn_of_signs(stats, choice);
  for (const std::size_t c : choice.columns) choice.task.names.emplace_back(trim(stats[c].name));
  choice.task.units.clear();
  for (std::size_t k = 0; k < choice.columns.size(); ++k)
    choice.task.units.push_back(choice.task.kind_of(k) == TaskKind::regression ? stats[choice.columns[k]].unit : "");
  return choice;
}

}  // namespace molgraph
