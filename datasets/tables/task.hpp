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
  int num_targets() const { return static_cast<int>(names.size()); }
  /// Number of outputs of the model's head: T, or T * classes for multiclass (target-major).
  int num_outputs() const { return kind == TaskKind::multiclass ? num_targets() * classes : num_targets(); }
};

}  // namespace molgraph
