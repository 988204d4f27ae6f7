// The numbers of a table that a model reads beside the molecules.
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
  /// `names`: Predictor::input_columns(), K, found as find_column() finds them. Throws FileError naming the columns
  /// that the tables lack, DataError for a name that stands twice.
  InputCells(const InputTables& tables, std::span<const std::string> names);

  /// [rows, K]; NaN where a cell is blank or no number.
  std::vector<float> values(const RowWindow& window) const;

  /// A row that would have a prediction, were all its cells numbers, gets status and reason, and no values.
  void check(const TableRow& row, Prediction& prediction) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;
};

}  // namespace molgraph
