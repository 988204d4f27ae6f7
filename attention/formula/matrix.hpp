// Matrices, and all the linear algebra that the formula needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace molgraph::formula {

/// [rows, columns], row-major. An empty grid represents a term that is switched off.
template <class Number>
struct Grid {
  std::int64_t rows = 0, columns = 0;
  std::vector<Number> values;

  Grid() = default;
  Grid(std::int64_t row_count, std::int64_t column_count, Number fill = Number())
      : rows(row_count), columns(column_count), values(static_cast<std::size_t>(row_count * column_count), fill) {}

  Number& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  const Number& operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  bool empty() const { return values.empty(); }
};

using Matrix = Grid<double>;

/// Returns an element of a table, or 0 if the table is switched off.
inline double number(const Matrix& table, std::int64_t row, std::int64_t column) {
  return table.empty() ? 0.0 : table(row, column);
}

/// a + b, element by element; both [rows, columns].
Matrix sum(const Matrix& a, const Matrix& b);
/// a * b, element by element, as dropout applies its factors.
Matrix product_by_element(const Matrix& a, const Matrix& b);
/// [columns, rows].
Matrix transposed(const Matrix& a);
/// x [rows, in] -> x W^T + bias [rows, out]; weight W [out, in], bias [1, out] or empty for none.
Matrix linear(const Matrix& x, const Matrix& weight, const Matrix& bias);

}  // namespace molgraph::formula
