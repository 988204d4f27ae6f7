#include "apps/programs/batch/input_cells.hpp"

#include <algorithm>
#include <limits>

#include "datasets/system/text.hpp"
#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/encoding.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxShown = 80;  ///< bytes of a cell in a reason

}  // namespace

InputCells::InputCells(const InputTables& tables, std::span<const std::string> names)
    : names_(names.begin(), names.end()) {
  if (names_.empty()) return;
  const std::string& path = tables.path(0);
  const std::string shown = path == "-" ? "standard input" : path;
  const ColumnNames columns(tables.columns(), shown);
  std::vector<std::string> missing;
  for (const std::string& name : names_) {
    const int column = columns.find(name);
    if (column < 0) missing.push_back(name);
    else columns_.push_back(static_cast<std::size_t>(column));
  }
  if (missing.empty()) return;
  throw DataError(shown + ": lacks these input columns of the model: " + list_of(missing) + "; the columns are " +
                  list_of(tables.columns()));
}

std::vector<float> InputCells::values(const RowWindow& window) const {
  std::vector<float> numbers;
  for (const TableRow& row : window.rows)
    for (const std::size_t column : columns_) {
      const auto number = column < row.cells.size() ? number_of_cell(row.cells[column]) : std::nullopt;
      numbers.push_back(number ? static_cast<float>(*number) : std::numeric_limits<float>::quiet_NaN());
    }
  return numbers;
}

void InputCells::check(const TableRow& row, Prediction& prediction) const {
  if (prediction.status != RowStatus::ok) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::string& cell = row.cells[columns_[c]];
    if (is_missing(cell) || number_of_cell(cell)) continue;
    prediction.status = RowStatus::invalid_input;
    prediction.reason = names_[c] + ": '" + utf8_head(cell, kMaxShown) + "' is not a number";
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    std::ranges::fill(prediction.values, kNaN);
    std::ranges::fill(prediction.deviation, kNaN);
    for (auto& member : prediction.members) std::ranges::fill(member, kNaN);
    return;
  }
}

}  // namespace molgraph
