#include "attention/formula/pair_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attention/formula/node_positions.hpp"
#include "attention/spec/pair_vector.hpp"

namespace molgraph::formula {
namespace {

using Path = std::vector<std::int64_t>;

/// Calls `visit` for all simple paths of at most `atoms` atoms, from every atom.
void for_each_path(const Molecule& molecule, std::size_t atoms, const std::function<void(const Path&)>& visit) {
  const std::function<void(Path)> extend = [&](Path path) {
    visit(path);
    for (std::int64_t to = 1; path.size() < atoms && to < molecule.tokens(); ++to) {
      if (!molecule.bonded(path.back(), to) || std::find(path.begin(), path.end(), to) != path.end()) continue;
      Path longer = path;
      longer.push_back(to);
      extend(longer);
    }
  };
  for (std::int64_t i = 1; i < molecule.tokens(); ++i) extend({i});
}

bool closes(const Molecule& molecule, const Path& path) {
  return path.size() > 2 && molecule.bonded(path.front(), path.back());
}

std::vector<Matrix> paths(const Molecule& molecule) {
  std::vector<Matrix> counts(kPathColumns, Matrix(molecule.tokens(), molecule.tokens()));
  for_each_path(molecule, kLongestPath + 1, [&](const Path& path) {
    const std::int64_t i = path.front();
    const std::size_t bonds = path.size() - 1;
    if (bonds >= kShortestPath) counts[bonds - kShortestPath](i, path.back()) += 1;
    if (closes(molecule, path) && path.size() <= kLongestPath) counts[path.size() - kShortestPath](i, i) += 0.5;
  });
  for (Matrix& column : counts)
    for (double& c : column.values) c = std::log2(1 + c);
  return counts;
}

Matrix same_ring(const Molecule& molecule) {
  Matrix same(molecule.tokens(), molecule.tokens());
  for_each_path(molecule, kLargestRing, [&](const Path& path) {
    if (!closes(molecule, path)) return;
    for (std::size_t k = 0; k < path.size(); ++k)
      for (std::size_t l = k + 1; l < path.size(); ++l)
        if (molecule.topology(path[k], path[l]) < std::min(l - k, path.size() - (l - k))) return;
    for (const std::int64_t i : path)
      for (const std::int64_t j : path) same(i, j) = 1;
  });
  return same;
}

/// 1 for each atom that can be reached from i over `steps`, including i.
std::vector<char> reached(const Matrix& steps, std::int64_t i) {
  std::vector<char> visited(static_cast<std::size_t>(steps.rows), 0);
  const std::function<void(std::int64_t)> visit = [&](std::int64_t atom) {
    if (visited[static_cast<std::size_t>(atom)]++) return;
    for (std::int64_t to = 1; to < steps.columns; ++to)
      if (steps(atom, to) > 0) visit(to);
  };
  visit(i);
  return visited;
}

/// 1 if a chain of ring bonds joins i and j. A ring bond is one whose atoms stay connected without it.
Matrix same_system(const Molecule& molecule) {
  const std::int64_t n = molecule.tokens();
  Matrix bonds(n, n), of_rings(n, n), same(n, n);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 1; j < n; ++j) bonds(i, j) = molecule.bonded(i, j) ? 1 : 0;
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 1; j < n; ++j) {
      if (bonds(i, j) == 0) continue;
      Matrix others = bonds;
      others(i, j) = others(j, i) = 0;
      of_rings(i, j) = reached(others, i)[static_cast<std::size_t>(j)] ? 1 : 0;
    }
  for (std::int64_t i = 1; i < n; ++i) {
    const std::vector<char> system = reached(of_rings, i);
    const bool alone = std::count(system.begin(), system.end(), 0) == n - 1;
    for (std::int64_t j = 1; j < n; ++j) same(i, j) = !alone && system[static_cast<std::size_t>(j)] ? 1 : 0;
  }
  return same;
}

}  // namespace

std::vector<Matrix> pair_vectors(const Molecule& molecule, const PairVector& vector) {
  std::vector<Matrix> columns;
  if (vector.steps > 0) columns = walks(molecule, vector.steps);
  if (vector.paths)
    for (Matrix& column : paths(molecule)) columns.push_back(std::move(column));
  if (vector.rings) {
    columns.push_back(same_ring(molecule));
    columns.push_back(same_system(molecule));
  }
  return columns;
}

Matrix atom_vectors(const Molecule& molecule, const PairVector& vector) {
  const std::vector<Matrix> columns = pair_vectors(molecule, vector);
  Matrix own(molecule.tokens(), vector.size());
  for (std::int64_t k = 0; k < own.columns; ++k)
    for (std::int64_t i = 1; i < own.rows; ++i) own(i, k) = columns[static_cast<std::size_t>(k)](i, i);
  return own;
}

}  // namespace molgraph::formula
