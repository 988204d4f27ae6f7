// Numeric input columns of a model, read from a table in addition to the molecules.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "apps/programs/shell/row_windows.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

class InputCells {
 public:
  /// `names`: the K names of Predictor::input_columns(), matched as by find_column(). Throws FileError with the names
  /// of missing columns, and DataError for a name that occurs twice.
  InputCells(const InputTables& tables, std::span<const std::string> names);

  /// Returns [rows, K]; NaN for a cell that is blank or not a number.
  std::vector<float> values(const RowWindow& window) const;

  /// If the prediction is ok but a cell is neither blank nor a number, sets status and reason and removes the values.
  void check(const TableRow& row, Prediction& prediction) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> columns_;
};

}  // namespace molgraph
