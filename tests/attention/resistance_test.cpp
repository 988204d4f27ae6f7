// Resistance distances, compared with the rules for resistors in series and in parallel.
#include <gtest/gtest.h>

#include "attention/formula/pair_terms.hpp"
#include "attention/spec/resistance.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

constexpr double kExact = 1e-12;  // float64, values of order one

/// Checks R of every pair of atoms, as computed by the engines and by the formula.
void expect_resistances(int atoms, const Bonds& bonds, const std::vector<double>& expected) {
  const GraphBatch batch = batch_of_cases({{"circuit", molecule_of(Features::zinc, atoms, bonds)}});
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(atoms * atoms));
  std::vector<double> found(expected.size());
  resistance_distances(batch, 0, found.data());
  const formula::Matrix by_currents = formula::resistance(formula::Molecule(batch, 0));
  for (int i = 0; i < atoms; ++i)
    for (int j = 0; j < atoms; ++j) {
      const auto k = static_cast<std::size_t>(i * atoms + j);
      EXPECT_NEAR(found[k], expected[k], kExact) << i << ", " << j;
      EXPECT_NEAR(by_currents(i + 1, j + 1), expected[k], kExact) << i << ", " << j;
    }
}

TEST(Resistance, IsZeroForASingleAtom) { expect_resistances(1, {}, {0}); }

TEST(Resistance, EqualsTheDistanceInAChain) { expect_resistances(3, {{0, 1}, {1, 2}}, {0, 1, 2, 1, 0, 1, 2, 1, 0}); }

TEST(Resistance, IsBelowTheDistanceInRings) {
  const double side = 2.0 / 3;  // 1 parallel to 2
  expect_resistances(3, {{0, 1}, {1, 2}, {2, 0}}, {0, side, side, side, 0, side, side, side, 0});
  expect_resistances(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}},  // 1 parallel to 3, and 2 parallel to 2
                     {0, 0.75, 1, 0.75, 0.75, 0, 0.75, 1, 1, 0.75, 0, 0.75, 0.75, 1, 0.75, 0});
}

TEST(Resistance, IsMinusOneBetweenFragments) { expect_resistances(3, {{0, 1}}, {0, 1, -1, 1, 0, -1, -1, -1, 0}); }

}  // namespace
}  // namespace molgraph::test
