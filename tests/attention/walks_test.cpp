// Random walks between atoms, compared with probabilities computed by hand.
#include <gtest/gtest.h>

#include "attention/formula/node_positions.hpp"
#include "attention/spec/walks.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

constexpr double kExact = 1e-14;  // float64, probabilities

/// r[t][i][j] for atoms i, j and t = 1, 2, ...
using Walks = std::vector<std::vector<std::vector<double>>>;

/// Checks the values of the engines and of the formula. Token 0 has no walks.
void expect_walks(int atoms, const Bonds& bonds, const Walks& expected) {
  const GraphBatch batch = batch_of_cases({{"walks", molecule_of(Features::zinc, atoms, bonds)}});
  const auto n = static_cast<std::size_t>(atoms) + 1;
  std::vector<double> found(expected.size() * n * n, -1.0);
  walk_probabilities(batch, 0, static_cast<int>(expected.size()), found.data());
  const std::vector<formula::Matrix> powers =
      formula::walks(formula::Molecule(batch, 0), static_cast<std::int64_t>(expected.size()));
  for (std::size_t t = 0; t < expected.size(); ++t)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double exact = i == 0 || j == 0 ? 0.0 : expected[t][i - 1][j - 1];
        EXPECT_NEAR(found[(t * n + j) * n + i], exact, kExact) << t << ": " << i << ", " << j;
        EXPECT_NEAR(powers[t](static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)), exact, kExact) << t;
      }
}

TEST(Walks, SingleAtomHasNone) { expect_walks(1, {}, {{{0}}, {{0}}}); }

TEST(Walks, TurnAtTheEndsOfAChain) {
  expect_walks(3, {{0, 1}, {1, 2}},
               {{{0, 1, 0}, {0.5, 0, 0.5}, {0, 1, 0}},
                {{0.5, 0, 0.5}, {0, 1, 0}, {0.5, 0, 0.5}},
                {{0, 1, 0}, {0.5, 0, 0.5}, {0, 1, 0}}});
}

TEST(Walks, StayInTheirFragment) {  // a triangle with a tail, and a single atom
  const double third = 1.0 / 3;
  expect_walks(
      5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}},
      {{{0, 0.5, 0.5, 0, 0}, {0.5, 0, 0.5, 0, 0}, {third, third, 0, third, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}},
       {{0.25 + third / 2, third / 2, 0.25, third / 2, 0},
        {third / 2, 0.25 + third / 2, 0.25, third / 2, 0},
        {third / 2, third / 2, third + third, 0, 0},
        {third, third, 0, third, 0},
        {0, 0, 0, 0, 0}}});
}

// Every molecule satisfies detailed balance, and each row of probabilities sums to 1 (0 for an atom without bonds).
TEST(Walks, AreProbabilitiesForEveryMolecule) {
  constexpr int kSteps = 9;
  const std::vector<MoleculeCase> molecules = molecule_cases();
  const GraphBatch batch = batch_of_cases(molecules);
  for (std::size_t b = 0; b < molecules.size(); ++b) {
    const formula::Molecule molecule(batch, static_cast<std::int64_t>(b));
    const auto n = static_cast<std::size_t>(molecule.tokens());
    std::vector<double> walks(kSteps * n * n);
    walk_probabilities(batch, static_cast<std::int64_t>(b), kSteps, walks.data());
    std::vector<float> rounded(walks.size());
    walk_probabilities(batch, static_cast<std::int64_t>(b), kSteps, rounded.data());
    for (std::size_t k = 0; k < walks.size(); ++k) EXPECT_NEAR(rounded[k], walks[k], 1e-6) << molecules[b].name;
    for (std::size_t t = 0; t < kSteps; ++t)
      for (std::size_t i = 1; i < n; ++i) {
        double total = 0;
        for (std::size_t j = 1; j < n; ++j) {
          total += walks[(t * n + j) * n + i];
          EXPECT_NEAR(molecule.degree(static_cast<std::int64_t>(i)) * walks[(t * n + j) * n + i],
                      molecule.degree(static_cast<std::int64_t>(j)) * walks[(t * n + i) * n + j], 1e-12);
        }
        EXPECT_NEAR(total, molecule.degree(static_cast<std::int64_t>(i)) > 0 ? 1.0 : 0.0, 1e-12) << molecules[b].name;
      }
  }
}

}  // namespace
}  // namespace molgraph::test
