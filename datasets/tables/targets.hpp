// Which columns of a table are targets, and their cells as numbers (docs/reference/programs.md, "Input").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/output_columns.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Columns that may be found to be targets: all but `not_targets` (indices), id, idx, index, row, name, weight,
/// *split*, columns without a name, a data frame's "Unnamed: 0", and output columns.
std::vector<int> candidate_columns(const std::vector<std::string>& columns, const OutputColumns& outputs,
                                   const std::vector<int>& not_targets);

/// More columns that nobody named are a question rather than an answer.
inline constexpr std::size_t kMostFoundTargets = 20;

/// --target-columns all, where no column has that name.
bool wants_all_targets(const std::vector<std::string>& named, const std::vector<std::string>& columns);

/// What the user said about targets.
struct TargetWishes {
  bool named = false;          ///< chose these columns, so each must do
  bool all = false;            ///< wants all columns that could be targets, however many
  bool own_table = true;       ///< no data set known by name: what is no measurement is left out
  bool hint_of_parts = false;  ///< has said nothing of the split
  std::optional<TaskKind> kind{};
  std::string positive{};  ///< the label that is 1, in any case; "" = by its meaning (labels.hpp)
};

/// The targets among the columns and what they are. Columns that nobody named are targets if at least half of their
/// filled cells are numbers, censored ones (">50") counted, and some exact, or if all are binary labels and
/// no number stands beside them; with `positive`, if they hold it and one other label. Without a kind: binary if all
/// cells are binary labels, multiclass if named columns hold two other words, mixed if named columns are words such as
/// yes and no beside numbers, else regression. In a mixed task each column is what its cells say: binary if all are
/// binary labels (0 and 1 too), else regression. Throws DataError for
/// numbers with decimal commas or with commas of two meanings, for a text column, for a cell that is no number, for two
/// units in a column and for values that do not fit the kind, as censored ones do to no class; UsageError if `positive`
/// does not fit it, and for more than kMostFoundTargets that nobody named.
struct TargetChoice {
  std::vector<std::size_t> columns;     ///< indices into the statistics
  Task task;                            ///< names as in the table, units as in its cells
  std::vector<std::string> notes{};     ///< what was decided, for people
  std::vector<std::string> warnings{};  ///< columns left out although there are numbers in them; approximate values
};
TargetChoice choose_targets(const std::vector<ColumnStats>& stats, const TargetWishes& wishes);

/// A cell as a label.
struct Label {
  double value = 0;       ///< NaN = missing; binary: 0 or 1; multiclass: the class's number
  std::int8_t bound = 0;  ///< +1: the true value lies above it (">50"), -1: below it
};

/// Cells -> labels of one task.
class TargetParser {
 public:
  explicit TargetParser(const Task& task);
  /// Throws DataError naming file, row, column and text.
  Label label(std::string_view cell, std::size_t target, const std::string& file, std::int64_t row) const;

 private:
  Task task_;
  std::map<std::string, int, std::less<>> classes_;
};

}  // namespace molgraph
