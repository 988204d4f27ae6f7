// Selection of the target columns of a table (docs/reference/programs.md, "Input").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/output_columns.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Returns the columns that may become targets: all except `not_targets` (indices), id, idx, index, row, name, weight,
/// *split*, columns without a name, a data frame's "Unnamed: 0", and output columns.
std::vector<int> candidate_columns(const std::vector<std::string>& columns, const OutputColumns& outputs,
                                   const std::vector<int>& not_targets);

/// Maximum number of targets that are chosen without asking the user.
inline constexpr std::size_t kMaxFoundTargets = 20;

/// True for --target-columns all, unless a column has that name.
bool wants_all_targets(const std::vector<std::string>& named, const std::vector<std::string>& columns);

/// What the user specified about targets.
struct TargetRequest {
  bool named = false;          ///< the user named these columns, so each must be usable
  bool all = false;            ///< use all columns that can be targets, without a limit
  bool own_table = true;       ///< not a named data set: columns that are not measurements are left out
  bool hint_at_parts = false;  ///< the user specified no split
  std::optional<TaskKind> kind{};
  std::string positive{};  ///< the label that is 1, in any case; "" = by meaning (labels.hpp)
};

/// Chosen targets and their kind.
/// Columns that the user did not name are targets if at least half of their filled cells are numbers, including
/// censored ones (">50"), and some are exact; or if all cells are binary labels and no other target is numeric; or,
/// with `positive`, if they contain it and one other label.
/// Without a specified kind, the task is binary if all cells are binary labels, multiclass if named columns contain two
/// other words, mixed if some named columns contain words such as yes and no and others contain numbers, and regression
/// otherwise. In a mixed task, each column is binary if all of its cells are binary labels (including 0 and 1), and
/// regression otherwise.
/// Throws DataError for decimal commas, ambiguous commas, text columns, cells that are not numbers, two units in a
/// column and values that do not fit the kind, such as censored values in a classification column. Throws UsageError if
/// `positive` does not fit the kind, and for more than kMaxFoundTargets targets that the user did not name.
struct TargetChoice {
  std::vector<std::size_t> columns;     ///< indices into the statistics
  Task task;                            ///< names as in the table, units as in its cells
  std::vector<std::string> notes{};     ///< decisions, for the log
  std::vector<std::string> warnings{};  ///< columns that contain numbers but are left out; approximate values
};
TargetChoice choose_targets(const std::vector<ColumnStats>& stats, const TargetRequest& request);

}  // namespace molgraph
