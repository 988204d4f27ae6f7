// Which columns of a table are targets, and their cells as numbers (programs.md, "Columns").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/task.hpp"

namespace molgraph {

/// Blank, nan, na, n/a, #n/a, null and <na> in any case: no value.
bool is_missing(std::string_view cell);
/// A finite number that fits a float (it is kept as a double); true and false are 1 and 0. Empty for anything else, such as ">50" or "1,5".
std::optional<double> number_of_cell(std::string_view cell);

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
  std::int64_t filled = 0, numbers = 0, decimal_commas = 0;   ///< the last are no numbers
  CellPlace first_text{};         ///< first filled cell that is no number
  CellPlace first_not_binary{};   ///< first filled cell that is neither 0 nor 1
  bool keep_labels = false;     ///< gather `labels`
  std::set<std::string> labels{};

  void add(std::string_view cell, const std::string& file, std::int64_t row);
};

/// Columns that may be found to be targets: all but `not_targets` (indices), id, idx, index, row, name, weight,
/// *split*, columns without a name and a data frame's "Unnamed: 0".
std::vector<int> candidate_columns(const std::vector<std::string>& columns, const std::vector<int>& not_targets);

/// The targets among the columns and what they are. `named`: the user chose these columns, so each must do; otherwise
/// the columns left of whose filled cells at least half are numbers. `kind` empty: binary if all values are 0 or 1,
/// else regression. Throws DataError for numbers with decimal commas, for a text column, for a cell that is no number and for values that do not fit the kind.
struct TargetChoice {
  std::vector<std::size_t> columns;  ///< indices into the statistics
  Task task;                         ///< names as in the table, no units
};
TargetChoice choose_targets(const std::vector<ColumnStats>& stats, bool named, std::optional<TaskKind> kind);

/// Cells -> values of one task.
class TargetParser {
 public:
  explicit TargetParser(const Task& task);
  /// NaN for a missing cell; multiclass: the class's number. Throws DataError naming file, row, column and text.
  double value(std::string_view cell, std::size_t target, const std::string& file, std::int64_t row) const;

 private:
  TaskKind kind_;
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> classes_;
};

}  // namespace molgraph
