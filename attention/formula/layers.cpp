#include "attention/formula/layers.hpp"

#include <cmath>

#include "attention/spec/options.hpp"

namespace molgraph::formula {

Matrix linear(const Matrix& x, const Parameters& parameters, const std::string& name) {
  return linear(x, parameters.at(name + ".weight"), parameters.at(name + ".bias"));
}

Matrix layer_norm(const Matrix& x, const Parameters& parameters, const std::string& name) {
  const Matrix& weight = parameters.at(name + ".weight");
  const Matrix& bias = parameters.at(name + ".bias");
  Matrix y(x.rows, x.columns);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < x.columns; ++c) mean += x(i, c) / static_cast<double>(x.columns);
    for (std::int64_t c = 0; c < x.columns; ++c)
      variance += (x(i, c) - mean) * (x(i, c) - mean) / static_cast<double>(x.columns);
    const double deviation = std::sqrt(variance + kLayerNormEpsilon);
    for (std::int64_t c = 0; c < x.columns; ++c) y(i, c) = (x(i, c) - mean) / deviation * weight(0, c) + bias(0, c);
  }
  return y;
}

double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }

Matrix gelu(Matrix x) {
  for (double& value : x.values) value = gelu(value);
  return x;
}

}  // namespace molgraph::formula
