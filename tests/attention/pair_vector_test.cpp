// Paths and rings between atoms, compared with counts made by hand.
#include "attention/spec/pair_vector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "attention/formula/pair_vectors.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

constexpr double kExact = 1e-14;  // float64
constexpr PairVector kAll{.steps = 3, .paths = true, .rings = true};

GraphBatch batch_of(int atoms, const Bonds& bonds) {
  return batch_of_cases({{"molecule", molecule_of(Features::zinc, atoms, bonds)}});
}

/// The vectors of a molecule as the engines compute them, indexed by atom.
class Vectors {
 public:
  Vectors(int atoms, const Bonds& bonds, PairVector vector = {.paths = true, .rings = true})
      : vector_(vector), n_(static_cast<std::size_t>(atoms) + 1),
        values_(static_cast<std::size_t>(vector.size()) * n_ * n_, -1.0) {
    pair_vectors(batch_of(atoms, bonds), 0, vector, values_.data());
  }
  double at(int column, int i, int j) const {
    return values_[(static_cast<std::size_t>(column) * n_ + static_cast<std::size_t>(j) + 1) * n_ +
                   static_cast<std::size_t>(i) + 1];
  }
  /// Number of paths of `bonds` bonds; if i = j, number of rings of `bonds` atoms.
  int paths(int bonds, int i, int j) const {
    const double count = std::exp2(at(vector_.steps + bonds - kShortestPath, i, j)) - 1;
    EXPECT_NEAR(count, std::round(count), 1e-9);
    return static_cast<int>(std::round(count));
  }
  std::vector<int> paths(int i, int j) const {
    std::vector<int> all;
    for (int bonds = kShortestPath; bonds <= kLongestPath; ++bonds) all.push_back(paths(bonds, i, j));
    return all;
  }
  double ring(int i, int j) const { return at(vector_.size() - 2, i, j); }
  double system(int i, int j) const { return at(vector_.size() - 1, i, j); }
  const std::vector<double>& values() const { return values_; }

 private:
  PairVector vector_;
  std::size_t n_;
  std::vector<double> values_;
};

using Counts = std::vector<int>;  // of paths of 2, 3, ... 8 bonds

Bonds ring_of(int atoms) {
  Bonds bonds = bonds_of_chain(atoms);
  bonds.emplace_back(atoms - 1, 0);
  return bonds;
}

TEST(PairVector, ChainHasOnePathAndNoRing) {
  const Vectors vectors(4, bonds_of_chain(4));
  EXPECT_EQ(vectors.paths(0, 1), (Counts{0, 0, 0, 0, 0, 0, 0}));  // a bond has its own topology class
  EXPECT_EQ(vectors.paths(0, 2), (Counts{1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(vectors.paths(3, 0), (Counts{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(vectors.paths(2, 2), (Counts{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(vectors.ring(0, 1), 0);
  EXPECT_EQ(vectors.system(1, 1), 0);
}

TEST(PairVector, SingleAtomIsZero) {
  const std::vector<double> values = Vectors(1, {}, kAll).values();
  EXPECT_EQ(values, std::vector<double>(values.size(), 0.0));
}

TEST(PairVector, BenzeneHasPathsInBothDirections) {
  const Vectors vectors(6, ring_of(6));
  EXPECT_EQ(vectors.paths(0, 1), (Counts{0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(vectors.paths(0, 2), (Counts{1, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(vectors.paths(0, 3), (Counts{0, 2, 0, 0, 0, 0, 0}));
  EXPECT_EQ(vectors.paths(4, 4), (Counts{0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(vectors.ring(0, 3), 1);
  EXPECT_EQ(vectors.system(5, 5), 1);
}

TEST(PairVector, NaphthaleneHasTwoRingsAndNoEnvelope) {
  Bonds bonds = ring_of(10);
  bonds.emplace_back(0, 5);  // fused
  const Vectors vectors(10, bonds);
  EXPECT_EQ(vectors.paths(6, 0, 0), 2);
  EXPECT_EQ(vectors.paths(6, 2, 2), 1);
  EXPECT_EQ(vectors.paths(5, 0, 5), 2);
  EXPECT_EQ(vectors.ring(0, 5), 1);
  EXPECT_EQ(vectors.ring(2, 5), 1);
  EXPECT_EQ(vectors.ring(2, 7), 0);  // only on the envelope of ten atoms, which does not count
  EXPECT_EQ(vectors.system(2, 7), 1);
}

TEST(PairVector, BicyclooctaneHasThreeRings) {
  const Vectors vectors(8, {{0, 1}, {1, 2}, {2, 7}, {0, 3}, {3, 4}, {4, 7}, {0, 5}, {5, 6}, {6, 7}});
  EXPECT_EQ(vectors.paths(3, 0, 7), 3);
  EXPECT_EQ(vectors.paths(6, 0, 0), 3);
  EXPECT_EQ(vectors.paths(6, 1, 1), 2);
  EXPECT_EQ(vectors.ring(1, 6), 1);
}

TEST(PairVector, SpiroAtomJoinsRingSystemsAndALinkDoesNot) {
  const Vectors spiro(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}});
  EXPECT_EQ(spiro.ring(0, 3), 0);
  EXPECT_EQ(spiro.ring(2, 3), 1);
  EXPECT_EQ(spiro.system(0, 3), 1);
  const Vectors linked(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}});
  EXPECT_EQ(linked.system(2, 3), 0);
  EXPECT_EQ(linked.system(3, 5), 1);
  EXPECT_EQ(linked.paths(2, 2, 4), 1);
}

TEST(PairVector, LargeRingCountsOnlyAsSystem) {
  const Vectors largest(kLargestRing, ring_of(kLargestRing)), larger(kLargestRing + 1, ring_of(kLargestRing + 1));
  EXPECT_EQ(largest.ring(0, 6), 1);
  EXPECT_EQ(larger.ring(0, 6), 0);
  EXPECT_EQ(larger.system(0, 6), 1);
}

// 12 atoms, each bonded to all others: 12 * 11 * 10^(l-1) walks of l bonds.
TEST(PairVector, StopsCountingAtTheWalkLimit) {
  Bonds bonds;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < i; ++j) bonds.emplace_back(j, i);
  const Vectors vectors(12, bonds);
  EXPECT_EQ(vectors.paths(4, 3), (Counts{10, 90, 720, 5040, 0, 0, 0}));
  EXPECT_EQ(vectors.paths(5, 7, 7), 11 * 10 * 9 * 8 / 2);
  EXPECT_EQ(vectors.ring(0, 1), 1);  // triangles
}

TEST(PairVector, MatchesTheFormulaForEveryMolecule) {
  const std::vector<MoleculeCase> molecules = molecule_cases();
  const GraphBatch batch = batch_of_cases(molecules);
  for (std::size_t b = 0; b < molecules.size(); ++b) {
    const formula::Molecule molecule(batch, static_cast<std::int64_t>(b));
    const std::vector<formula::Matrix> expected = formula::pair_vectors(molecule, kAll);
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(kAll.size()));
    const auto n = static_cast<std::size_t>(molecule.tokens()), size = expected.size();
    std::vector<double> found(size * n * n, -1.0), own((n - 1) * size, -1.0);
    std::vector<float> rounded(found.size());
    pair_vectors(batch, static_cast<std::int64_t>(b), kAll, found.data());
    pair_vectors(batch, static_cast<std::int64_t>(b), kAll, rounded.data());
    atom_vectors(batch, static_cast<std::int64_t>(b), kAll, own.data());
    const formula::Matrix diagonal = formula::atom_vectors(molecule, kAll);
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t i = 0; i < n; ++i) {
        const auto atom = static_cast<std::int64_t>(i);
        for (std::size_t j = 0; j < n; ++j) {
          const double value = expected[k](atom, static_cast<std::int64_t>(j));
          EXPECT_NEAR(found[(k * n + j) * n + i], value, kExact) << molecules[b].name << " " << k;
          EXPECT_NEAR(rounded[(k * n + j) * n + i], value, 1e-6) << molecules[b].name << " " << k;
        }
      }
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t k = 0; k < size; ++k)
        EXPECT_NEAR(own[(i - 1) * size + k], diagonal(static_cast<std::int64_t>(i), static_cast<std::int64_t>(k)),
                    kExact);
  }
}

TEST(PairVector, IsInvariantUnderRenumbering) {
  const int atoms = 11;
  Bonds bonds{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {3, 5}, {5, 6}, {6, 7}, {7, 3}, {1, 8}, {9, 10}, {0, 2}};
  const Vectors first(atoms, bonds, kAll);
  std::vector<int> place(atoms);
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), std::mt19937(7));
  for (auto& [i, j] : bonds) i = place[static_cast<std::size_t>(i)], j = place[static_cast<std::size_t>(j)];
  std::reverse(bonds.begin(), bonds.end());
  const Vectors second(atoms, bonds, kAll);
  for (int k = 0; k < kAll.size(); ++k)
    for (int i = 0; i < atoms; ++i)
      for (int j = 0; j < atoms; ++j)
        EXPECT_NEAR(first.at(k, i, j),
                    second.at(k, place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>(j)]), kExact)
            << k << ": " << i << ", " << j;
}

}  // namespace
}  // namespace molgraph::test
