// Which columns of a table are targets, and their cells as numbers (docs/programs.md, "Input").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// No value: blank, "-", nan, na, n/a, #n/a, null, none and <na>, in any case. The one rule for targets, ids and parts.
bool is_missing(std::string_view cell);
/// A finite number that fits a float (it is kept as a double); true and false are 1 and 0. Empty for anything else,
/// such as ">50" or "1,5".
std::optional<double> number_of_cell(std::string_view cell);

/// A row's weight in the loss: a finite number of 0 or more. Throws DataError for anything else, a blank cell too: what
/// a row without a weight should count beside others, nobody but its author knows.
float weight_of_cell(std::string_view cell, const std::string& column, const std::string& file, std::int64_t row);

/// True for "1,5" and "-0,25": what may be a number with a decimal comma, which is never guessed.
bool has_decimal_comma(std::string_view cell);

/// Where a cell stands that is not what it should be.
struct CellPlace {
  std::string file, text;
  std::int64_t row = -1;  ///< 0-based; -1 = there is none
};

/// What one column holds, gathered cell by cell in constant memory (class labels apart).
struct ColumnStats {
  std::string name;
  std::int64_t filled = 0, numbers = 0, decimal_commas = 0;  ///< the last are no numbers
  std::int64_t censored = 0;                                 ///< such as ">50"; not among the numbers
  std::int64_t approximate = 0;                              ///< such as "~3"; among the numbers
  CellPlace first_text{};                                    ///< first filled cell that is neither number nor censored
  CellPlace first_censored{}, first_approximate{};
  CellPlace first_unit{};        ///< first cell with a unit behind its sign and number
  std::string unit{};            ///< that unit
  CellPlace other_unit{};        ///< first cell with another unit
  CellPlace first_not_binary{};  ///< first filled cell that is no binary label (labels.hpp)
  unsigned pairs = 0;            ///< bit p: a label of the pair p was seen; only while all cells are binary labels
  bool keep_labels = false;      ///< gather all `labels`; else of cells that are no numbers, until there are three
  std::set<std::string> labels{};

  bool is_binary() const { return filled > 0 && first_not_binary.row < 0; }
  bool is_mostly_numbers() const { return filled > 0 && 2 * (numbers + censored + decimal_commas) >= filled; }

  /// Taken for a target of numbers where nobody names one: some of them must be more than a limit.
  bool is_found() const { return is_mostly_numbers() && numbers + decimal_commas > 0; }

  void add(std::string_view cell, const std::string& file, std::int64_t row);
};

/// True for the columns that these programs write: y_pred, *_pred, *_std, *_prob_*, status, reason, nearest_id,
/// nearest_distance, domain_similarity and its like, molgraph_*; and where `columns` has NAME_pred also NAME_low,
/// NAME_high, NAME_baseline, NAME_descriptors, NAME_blend and domain_NAME.
bool is_output_column(std::string_view name, const std::vector<std::string>& columns);

/// Columns that may be found to be targets: all but `not_targets` (indices), id, idx, index, row, name, weight,
/// *split*, columns without a name, a data frame's "Unnamed: 0", and output columns.
std::vector<int> candidate_columns(const std::vector<std::string>& columns, const std::vector<int>& not_targets);

/// What the user said about targets.
struct TargetWishes {
  bool named = false;  ///< chose these columns, so each must do
  std::optional<TaskKind> kind{};
  std::string positive{};  ///< the label that is 1, in any case; "" = by its meaning (labels.hpp)
};

/// The targets among the columns and what they are. Columns that nobody named are targets if at least half of their
/// filled cells are numbers, censored ones (">50") counted, and some exact, or if all are binary labels and
/// no number stands beside them; with `positive`, if they hold it and one other label. Without a kind: binary if all
/// cells are binary labels, multiclass if named columns hold two other words, mixed if named columns are words such as
/// yes and no beside numbers, else regression. In a mixed task each column is what its cells say: binary if all are
/// binary labels (0 and 1 too), else regression. Throws DataError for
/// numbers with decimal commas, for a text column, for a cell that is no number, for two units in a column and for
/// values that do not fit the kind, as censored ones do to no class; UsageError if `positive` does not fit it.
struct TargetChoice {
  std::vector<std::size_t> columns;     ///< indices into the statistics
  Task task;                            ///< names as in the table, no units
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
