// Random walks and Laplacian eigenvectors of small graphs, compared with values computed by hand; invariance under
// renumbering.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/spec/node_positions.hpp"
#include "attention/spec/walks.hpp"

namespace molgraph::test {
namespace {

struct Graph {
  std::vector<std::uint8_t> atoms;
  std::vector<std::pair<int, int>> bonds;
};

/// Atom k of `graph` becomes atom place[k].
GraphBatch batch_of(const Graph& graph, const std::vector<int>& place) {
  MolecularGraph molecule;
  molecule.features = Features::zinc;
  molecule.atoms.resize(graph.atoms.size());
  for (std::size_t k = 0; k < place.size(); ++k) molecule.atoms[static_cast<std::size_t>(place[k])] = graph.atoms[k];
  for (const auto& [a, b] : graph.bonds) {
    molecule.bond_atoms.push_back(place[static_cast<std::size_t>(a)]);
    molecule.bond_atoms.push_back(place[static_cast<std::size_t>(b)]);
    molecule.bonds.push_back(1);
  }
  const GraphView view = molecule.view();
  const std::int64_t row = 0;
  return pack({&view, 1}, {&row, 1});
}

/// [atoms][k], in the order of `graph` for every numbering.
std::vector<std::vector<double>> laplacian(const Graph& graph, int count, std::vector<int> place = {}) {
  if (place.empty()) {
    place.resize(graph.atoms.size());
    std::iota(place.begin(), place.end(), 0);
  }
  std::vector<double> out(graph.atoms.size() * static_cast<std::size_t>(count), -7.0);
  laplacian_positions(batch_of(graph, place), 0, count, out.data());
  std::vector<std::vector<double>> rows;
  for (const int p : place) rows.emplace_back(out.begin() + p * count, out.begin() + (p + 1) * count);
  return rows;
}

double largest_difference(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t c = 0; c < a[i].size(); ++c) largest = std::max(largest, std::abs(a[i][c] - b[i][c]));
  return largest;
}

std::vector<int> shuffled(std::size_t count, unsigned seed) {
  std::vector<int> place(count);
  std::iota(place.begin(), place.end(), 0);
  std::uint64_t state = seed;
  for (std::size_t k = count; k > 1; --k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(place[k - 1], place[(state >> 33) % k]);
  }
  return place;
}

const Graph kPath{{0, 0, 0}, {{0, 1}, {1, 2}}};
const Graph kHexagon{{0, 0, 0, 0, 0, 0}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}};
/// A ring with two different tails and a fragment of two atoms, without any symmetry.
const Graph kAsymmetric{{0, 0, 1, 0, 0, 2, 3, 0, 4, 5},
                        {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {3, 5}, {5, 6}, {1, 7}, {8, 9}}};

TEST(RandomWalk, ChainOfThreeAtoms) {
  std::vector<double> out(12);
  random_walk_positions(batch_of(kPath, {0, 1, 2}), 0, 4, out.data());
  EXPECT_EQ(out, (std::vector<double>{0, 0.5, 0, 0.5, 0, 1, 0, 1, 0, 0.5, 0, 0.5}));
}

TEST(RandomWalk, TriangleWithTailAndSingleAtom) {
  // Triangle 0 1 2, tail 2-3, single atom 4. Return to 0 after two steps: via 1 (1/2 * 1/2) or via 2 (1/2 * 1/3);
  // after three: around the triangle in both directions, 2 * 1/2 * 1/2 * 1/3.
  const Graph graph{{0, 0, 0, 0, 0}, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}};
  std::vector<double> out(15);
  random_walk_positions(batch_of(graph, {0, 1, 2, 3, 4}), 0, 3, out.data());
  EXPECT_DOUBLE_EQ(out[1], 1.0 / 4 + 1.0 / 6);
  EXPECT_DOUBLE_EQ(out[2], 1.0 / 6);
  EXPECT_DOUBLE_EQ(out[3 * 3 + 1], 1.0 / 3);  // the tail: to 2, then back with probability 1/3
  EXPECT_EQ(std::vector<double>(out.begin() + 12, out.end()), (std::vector<double>{0, 0, 0}));
}

TEST(Laplacian, ChainOfThreeAtoms) {
  const auto rows = laplacian(kPath, 3);
  const double sign = rows[0][0] > 0 ? 1 : -1, r = std::sqrt(0.5);
  EXPECT_NEAR(rows[0][0] * sign, r, 1e-14);  // eigenvalue 1: (1, 0, -1)/sqrt 2
  EXPECT_NEAR(rows[1][0], 0, 1e-14);
  EXPECT_NEAR(rows[2][0] * sign, -r, 1e-14);
  const double other = rows[0][1] > 0 ? 1 : -1;
  EXPECT_NEAR(rows[0][1] * other, 0.5, 1e-14);  // eigenvalue 2: (1, -sqrt 2, 1)/2
  EXPECT_NEAR(rows[1][1] * other, -r, 1e-14);
  EXPECT_NEAR(rows[2][1] * other, 0.5, 1e-14);
  for (const auto& row : rows) EXPECT_EQ(row[2], 0.0);  // three atoms have two non-trivial eigenvectors
}

TEST(Laplacian, ColumnsAreEigenvectors) {
  const auto rows = laplacian(kAsymmetric, 7);
  std::vector<double> degree(10, 0);
  for (const auto& [a, b] : kAsymmetric.bonds)
    ++degree[static_cast<std::size_t>(a)], ++degree[static_cast<std::size_t>(b)];
  double before = 0;
  for (std::size_t c = 0; c < 7; ++c) {
    std::vector<double> image(8);
    for (std::size_t i = 0; i < 8; ++i) image[i] = rows[i][c];
    for (const auto& [a, b] : kAsymmetric.bonds) {
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      if (i >= 8) continue;
      image[i] -= rows[j][c] / std::sqrt(degree[i] * degree[j]);
      image[j] -= rows[i][c] / std::sqrt(degree[i] * degree[j]);
    }
    double value = 0, square = 0;
    for (std::size_t i = 0; i < 8; ++i) value += image[i] * rows[i][c], square += rows[i][c] * rows[i][c];
    EXPECT_NEAR(square, 1, 1e-12);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(image[i], value * rows[i][c], 1e-12) << c;
    EXPECT_GT(value, before) << "eigenvalues increase, and 0 is left out";
    before = value;
  }
}

TEST(Laplacian, IsInvariantUnderRenumbering) {
  const auto rows = laplacian(kAsymmetric, 7);
  for (unsigned seed = 1; seed < 20; ++seed)
    EXPECT_LT(largest_difference(laplacian(kAsymmetric, 7, shuffled(10, seed)), rows), 1e-10) << seed;
}

TEST(Laplacian, AtomTypesFixTheBasisUpToSymmetry) {
  // One atom of the hexagon differs. Equal eigenvalues remain, but their basis is fixed up to the mirror image, which
  // maps the molecule to itself. Atoms on the mirror axis have the same values for every numbering.
  Graph pyridine = kHexagon;
  pyridine.atoms[0] = 3;
  const auto rows = laplacian(pyridine, 5);
  for (unsigned seed = 1; seed < 20; ++seed) {
    const auto again = laplacian(pyridine, 5, shuffled(6, seed));
    for (const std::size_t axis : {0u, 3u})
      for (std::size_t c = 0; c < 5; ++c) EXPECT_NEAR(again[axis][c], rows[axis][c], 1e-10) << axis << " " << c;
    for (std::size_t c = 0; c < 5; ++c)  // the pairs that the mirror image exchanges
      EXPECT_NEAR(again[1][c] + again[5][c], rows[1][c] + rows[5][c], 1e-10) << c;
  }
}

TEST(Laplacian, FragmentsAreIndependent) {
  Graph both = kPath;
  both.atoms.insert(both.atoms.end(), {1, 2, 9});  // a pair and a single atom
  both.bonds.emplace_back(3, 4);
  const auto rows = laplacian(both, 2), alone = laplacian(kPath, 2);
  EXPECT_EQ(std::vector<std::vector<double>>(rows.begin(), rows.begin() + 3), alone);
  EXPECT_NEAR(std::abs(rows[3][0]), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(rows[3][0], -rows[4][0], 1e-14);
  EXPECT_EQ(rows[5], (std::vector<double>{0, 0}));
}

TEST(Laplacian, EqualEigenvaluesGiveOrthonormalBasis) {
  const auto rows = laplacian(kHexagon, 5);
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      double product = 0;
      for (const auto& row : rows) product += row[a] * row[b];
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-12);
    }
}

}  // namespace
}  // namespace molgraph::test
