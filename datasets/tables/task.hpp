// What is predicted: kind, names, units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

enum class TaskKind : std::uint8_t { regression, binary, multiclass };
std::string_view to_string(TaskKind kind);              ///< "regression", "binary", "multiclass"
TaskKind task_kind_from_string(std::string_view text);  ///< also accepts "classification" = binary; throws UsageError

inline constexpr std::size_t kMostTargets = 65'536;  ///< of a table and of a store

struct Task {
  TaskKind kind = TaskKind::regression;
  std::vector<std::string> names;         ///< [T] target columns
  std::vector<std::string> units;         ///< [T] "" = none or unknown
  int classes = 0;                        ///< multiclass only: classes 0..classes-1 of every target
  std::vector<std::string> class_labels;  ///< multiclass [classes]: the text of a class in the user's table; binary:
                                          ///< the texts of 0 and 1, or empty where they are numbers or differ by target

  /// The text that a probability of this binary task is one of; "" = the label 1.
  std::string positive_label() const {
    return kind == TaskKind::binary && class_labels.size() == 2 ? class_labels[1] : std::string();
  }
  int num_targets() const { return static_cast<int>(names.size()); }
  /// Columns of the model's head: T, or T * classes for multiclass (target-major).
  int num_outputs() const { return kind == TaskKind::multiclass ? num_targets() * classes : num_targets(); }
};

}  // namespace molgraph
