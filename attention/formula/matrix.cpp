#include "attention/formula/matrix.hpp"

namespace molgraph::formula {

Matrix sum(const Matrix& a, const Matrix& b) {
  Matrix result = a;
  for (std::size_t k = 0; k < result.values.size(); ++k) result.values[k] += b.values[k];
  return result;
}

Matrix product_by_element(const Matrix& a, const Matrix& b) {
  Matrix result = a;
  for (std::size_t k = 0; k < result.values.size(); ++k) result.values[k] *= b.values[k];
  return result;
}

Matrix transposed(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
  return result;
}

Matrix linear(const Matrix& x, const Matrix& weight, const Matrix& bias) {
  Matrix y(x.rows, weight.rows);
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t out = 0; out < y.columns; ++out) {
      y(i, out) = number(bias, 0, out);
      for (std::int64_t in = 0; in < x.columns; ++in) y(i, out) += x(i, in) * weight(out, in);
    }
  return y;
}

}  // namespace molgraph::formula
