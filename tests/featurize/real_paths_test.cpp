#include <gtest/gtest.h>

#include "featurize/smiles/smiles.hpp"
#include "tests/featurize/golden_table.hpp"
#include "tests/featurize/path_walker.hpp"

namespace molgraph {
namespace {

std::vector<MolecularGraph> graphs_of(const std::vector<std::string>& smiles) {
  std::vector<MolecularGraph> graphs;
  for (const std::string& text : smiles) graphs.push_back(std::get<MolecularGraph>(Featurizer().smiles(text)));
  return graphs;
}

/// Molecules with tied shortest paths: cages, fused and spiro rings, a macrocycle; also a salt and single atoms.
const std::vector<std::string> kTiedMolecules = {
    "C12C3C4C1C5C2C3C45",                // cubane
    "C1C2CC3CC1CC(C2)C3",                // adamantane
    "c1cc2ccc3cccc4ccc(c1)c2c34",        // pyrene
    "CC12CCC3C(CCc4cc(O)ccc34)C2CCC1O",  // estradiol
    "C1CC11CCC2(CC2)CC1",                // spiro rings
    "C1CCCCCCCCCCCCC1.[Na+].[Cl-]",      // macrocycle with two ions
    "COc1ccc2ccc(O)c(CN3CCN(S(=O)(=O)c4ccn(C)c4)CC3)c2c1",
};

TEST(RealPaths, MoleculesWithTiedPathsMatchEnumeration) {
  EXPECT_GE(test::expect_brute_force(graphs_of(kTiedMolecules), PathRule::mean), 6u);
  test::expect_brute_force(graphs_of(kTiedMolecules), PathRule::single);
}

TEST(RealPaths, GoldenMoleculesMatchEnumeration) {
  const std::string path = test::golden_file("MOLGRAPH_GOLDEN", "ogb_features.csv.gz");
  if (path.empty()) GTEST_SKIP() << "MOLGRAPH_GOLDEN with ogb_features.csv.gz is not set";
  std::vector<std::string> smiles;
  for (const auto& row : test::golden_rows(path)) {
    if (row.at(0).size() < 90 && smiles.size() < 400) smiles.push_back(row[0]);
  }
  ASSERT_EQ(smiles.size(), 400u);
  EXPECT_GE(test::expect_brute_force(graphs_of(smiles), PathRule::mean), 4u);
  test::expect_brute_force(graphs_of(smiles), PathRule::single);
}

}  // namespace
}  // namespace molgraph
