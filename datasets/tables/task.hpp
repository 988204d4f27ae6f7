// The prediction task: kind, names, units.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// mixed: each target is regression or binary.
enum class TaskKind : std::uint8_t { regression, binary, multiclass, mixed };
std::string_view to_string(TaskKind kind);              ///< "regression", "binary", "multiclass", "mixed"
TaskKind task_kind_from_string(std::string_view text);  ///< also accepts "classification" = binary; throws UsageError

inline constexpr std::size_t kMaxTargets = 65'536;  ///< in a table or a store

struct Task {
  TaskKind kind = TaskKind::regression;
  std::vector<std::string> names;         ///< [T] target columns
  std::vector<std::string> units;         ///< [T] "" = none or unknown
  int classes = 0;                        ///< multiclass only: classes 0..classes-1 of every target
  std::vector<std::string> class_labels;  ///< multiclass [classes]: text of each class in the user's table; binary:
                                          ///< texts of 0 and 1, or empty if they are numbers or differ by target
  std::vector<TaskKind> kinds{};          ///< [T] of a mixed task, else empty
  std::vector<bool> logarithmic{};        ///< [T] whether the model learns log10 of the target; empty = of none

  bool is_logarithmic(std::size_t target) const { return target < logarithmic.size() && logarithmic[target]; }
  std::vector<std::string> logarithmic_names() const;
  /// Converts a value in the model's unit (for a logarithmic target, log10 of the value) to the unit of the table.
  /// Keeps 14 digits, so that labels of up to 13 digits are restored exactly.
  double in_table_unit(std::size_t target, double value) const;
  /// Converts a value in the unit of the table to the model's unit. NaN if it has no logarithm.
  double in_model_unit(std::size_t target, double value) const;
  /// Name and unit of the model's output: names[target] and units[target] or, for example, "log10(half_life)" and
  /// "log10(h)"; "log10" if the unit is unknown.
  std::string model_name(std::size_t target) const;
  std::string model_unit(std::size_t target) const;
  TaskKind kind_of(std::size_t target) const { return kinds.empty() ? kind : kinds[target]; }
  /// True if any target is of this kind.
  bool has(TaskKind wanted) const {
    return kind == wanted || std::find(kinds.begin(), kinds.end(), wanted) != kinds.end();
  }
  /// Sets the kinds [T] of the targets; `kind` becomes `mixed` only if they differ.
  void set_kinds(std::vector<TaskKind> of_targets);
  /// Returns the label whose probability a binary target predicts; "" = the label 1.
  std::string positive_label() const {
    return has(TaskKind::binary) && class_labels.size() == 2 ? class_labels[1] : std::string();
  }
  /// Text of a class in the user's table, else its number.
  std::string class_name(std::size_t number) const {
    return number < class_labels.size() ? class_labels[number] : std::to_string(number);
  }
  int num_targets() const { return static_cast<int>(names.size()); }
  /// Number of outputs of the model's head: T, or T * classes for multiclass (target-major).
  int num_outputs() const { return kind == TaskKind::multiclass ? num_targets() * classes : num_targets(); }
};

}  // namespace molgraph
