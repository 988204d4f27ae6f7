// Conversion of the cells of target columns to numbers (docs/reference/programs.md, "Input").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Throws the DataError of a cell that should be a number.
[[noreturn]] void throw_bad_number(const std::string& column, const CellPlace& place);

/// The label in a cell.
struct Label {
  double value = 0;       ///< NaN = missing; binary: 0 or 1; multiclass: index of the class
  std::int8_t bound = 0;  ///< +1: the true value is above (">50"), -1: below
};

/// Converts cells to labels of one task.
class TargetParser {
 public:
  explicit TargetParser(const Task& task);
  /// Throws a DataError that names file, row, column and text.
  Label label(std::string_view cell, std::size_t target, const std::string& file, std::int64_t row) const;

 private:
  Task task_;
  std::map<std::string, int, std::less<>> classes_;
};

}  // namespace molgraph
