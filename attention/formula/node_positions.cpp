#include "attention/formula/node_positions.hpp"

#include <algorithm>

#include "attention/spec/node_positions.hpp"

namespace molgraph::formula {

std::vector<Matrix> walks(const Molecule& molecule, std::int64_t steps) {
  const std::int64_t n = molecule.tokens();
  Matrix step(n, n);  // D^-1 A: from atom i to one of its neighbours j
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 1; j < n; ++j)
      if (molecule.bonded(i, j)) step(i, j) = 1.0 / molecule.degree(i);
  std::vector<Matrix> powers{step};
  while (static_cast<std::int64_t>(powers.size()) < steps) {
    Matrix next(n, n);
    for (std::int64_t i = 1; i < n; ++i)
      for (std::int64_t u = 1; u < n; ++u)
        for (std::int64_t j = 1; j < n; ++j) next(i, j) += powers.back()(i, u) * step(u, j);
    powers.push_back(next);
  }
  return powers;
}

Matrix random_walk(const Molecule& molecule, std::int64_t steps) {
  const std::vector<Matrix> powers = walks(molecule, steps);
  Matrix back(molecule.tokens(), steps);
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t i = 1; i < back.rows; ++i) back(i, t) = powers[static_cast<std::size_t>(t)](i, i);
  return back;
}

Matrix laplacian(const Molecule& molecule, std::int64_t count, const Draws& draws) {
  Matrix vectors(molecule.tokens(), count);
  laplacian_positions(molecule.batch(), molecule.number(), static_cast<int>(count), vectors.values.data() + count);
  const Matrix signs = draws.signs(count);
  for (std::int64_t i = 1; i < vectors.rows; ++i)
    for (std::int64_t c = 0; c < count; ++c) vectors(i, c) *= signs(0, c);
  return vectors;
}

}  // namespace molgraph::formula
