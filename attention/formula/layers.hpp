// The parts of a block that process each token separately.
#pragma once

#include <string>

#include "attention/formula/matrix.hpp"
#include "attention/formula/parameters.hpp"

namespace molgraph::formula {

/// x W^T + b with the parameters `name`.weight and `name`.bias.
Matrix linear(const Matrix& x, const Parameters& parameters, const std::string& name);

/// For each row: (x - mean)/sqrt(variance + 1e-5) * weight + bias, with the variance divided by C.
Matrix layer_norm(const Matrix& x, const Parameters& parameters, const std::string& name);

/// Exact: x/2 * (1 + erf(x/sqrt 2)).
double gelu(double x);
Matrix gelu(Matrix x);

}  // namespace molgraph::formula
