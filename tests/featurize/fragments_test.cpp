// Division of molecules into ring systems, linkers and side chains, and molecules without one of these.
#include "featurize/smiles/fragments.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"
#include "tests/featurize/golden_table.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;

MoleculeFragments fragments_of(const std::string& smiles, FeaturizerOptions options = {}) {
  return murcko_fragments(smiles, false, options);
}

/// Canonical SMILES of the molecule without each fragment.
std::vector<std::string> rests(const std::string& smiles) {
  std::vector<std::string> all;
  for (const std::string& rest : fragments_of(smiles).without)
    all.push_back(rest.empty() ? "" : canonical_smiles(rest));
  return all;
}

std::vector<std::string> canonical(std::vector<std::string> all) {
  for (std::string& one : all) one = canonical_smiles(one);
  return all;
}

TEST(MurckoFragments, RingSystemsLinkersAndSideChains) {
  // Methoxy, phenyl, amide linker, pyridyl, chlorine.
  const std::string smiles = "COc1ccc(C(=O)Nc2cccnc2Cl)cc1";
  EXPECT_THAT(fragments_of(smiles).of_atom, ElementsAre(0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 1, 1));
  EXPECT_EQ(rests(smiles), canonical({"c1ccc(C(=O)Nc2cccnc2Cl)cc1", "CO.O=CNc1cccnc1Cl", "COc1ccccc1.c1cccnc1Cl",
                                      "COc1ccc(C(=O)N)cc1.Cl", "COc1ccc(C(=O)Nc2cccnc2)cc1"}));
}

TEST(MurckoFragments, FusedAndSpiroRingsAreOneSystemAndBiphenylIsTwo) {
  EXPECT_THAT(fragments_of("C1CC2CCC1C2").of_atom, ElementsAre(0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(fragments_of("C1CC12CC2").of_atom, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_EQ(rests("c1ccc2ccccc2c1"), std::vector<std::string>{""});
  EXPECT_EQ(rests("c1ccccc1C1CC1"), canonical({"C1CC1", "c1ccccc1"}));
}

TEST(MurckoFragments, MultiplyBondedAtomsBelongToTheirRingOrLinker) {
  // Cyclohexanone; a ring with an exocyclic C=C whose methyl groups are side chains; a sulfone between rings.
  EXPECT_THAT(fragments_of("O=C1CCCCC1").of_atom, ElementsAre(0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(fragments_of("CC(C)=C1CC1").of_atom, ElementsAre(0, 1, 2, 1, 1, 1));
  EXPECT_EQ(rests("CC(C)=C1CC1"), canonical({"CC=C1CC1", "C.C", "CC=C1CC1"}));
  EXPECT_THAT(fragments_of("C1CC1S(=O)(=O)C1CC1").of_atom, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(fragments_of("C1CC1=C1CC1").of_atom, ElementsAre(0, 0, 0, 0, 0, 0)) << "no multiple bond is cut";
  // A side chain with multiple bonds stays whole.
  EXPECT_THAT(fragments_of("N#CCc1ccccc1").of_atom, ElementsAre(0, 0, 0, 1, 1, 1, 1, 1, 1));
}

TEST(MurckoFragments, AcyclicMoleculesAndSalts) {
  EXPECT_EQ(rests("CCO"), std::vector<std::string>{""});
  EXPECT_EQ(rests("c1ccccc1C(=O)[O-].[Na+]"), canonical({"O=C[O-].[Na+]", "c1ccccc1.[Na+]", "c1ccccc1C(=O)[O-]"}));
}

TEST(MurckoFragments, HydrogenFillsTheCutBonds) {
  EXPECT_EQ(rests("Cn1cccc1"), canonical({"c1cc[nH]c1", "C"}));
  EXPECT_EQ(rests("C[n+]1ccccc1"), canonical({"c1cccc[nH+]1", "C"}));
  EXPECT_EQ(rests("C[N+]1(C)CCCC1"), canonical({"C[NH+]1CCCC1", "C.C", "C[NH+]1CCCC1"}));
}

TEST(MurckoFragments, ChiralCentresKeepTheirConfiguration) {
  // The hydrogen takes the place of the methyl group, which is written first.
  EXPECT_EQ(rests("C[C@]1(F)CCCO1")[0], canonical_smiles("[H][C@]1(F)CCCO1"));
  EXPECT_EQ(rests("C[C@@]1(F)CCCO1")[0], canonical_smiles("[H][C@@]1(F)CCCO1"));
  EXPECT_EQ(rests("F[C@]1(C)CCCO1")[2], canonical_smiles("F[C@]1([H])CCCO1"));
  EXPECT_NE(canonical_smiles("[H][C@]1(F)CCCO1"), canonical_smiles("[H][C@@]1(F)CCCO1"));
}

// A hydrogen that defines the stereo of a double bond would stay.
TEST(MurckoFragments, NoHydrogenIsLeftAtDoubleBonds) {
  EXPECT_EQ(rests("C/C=C/c1ccccc1"), (std::vector<std::string>{"c1ccccc1", "C=CC"}));
  EXPECT_EQ(rests("c1ccccc1/C=C/c1ccccc1"),
            (std::vector<std::string>{"C=Cc1ccccc1", "c1ccccc1.c1ccccc1", "C=Cc1ccccc1"}));
  EXPECT_EQ(rests("C/C(=C/C)c1ccccc1")[1], "C/C=C/C");
  EXPECT_EQ(rests("O/N=C1/CCCC(C)C1")[0], canonical_smiles("N=C1CCCC(C)C1"));
}

TEST(MurckoFragments, HydrogensAndDummiesOfTheInputStay) {
  EXPECT_EQ(rests("[2H]c1ccccc1C"), (std::vector<std::string>{"Cc1ccccc1", "C.[2HH]", "[2H]c1ccccc1"}));
  EXPECT_EQ(rests("*c1ccccc1"), (std::vector<std::string>{"c1ccccc1", "*"}));
  EXPECT_EQ(rests("[H]/N=C(/C)C1CC1")[1], "[H]/N=C/C");
}

TEST(MurckoFragments, OppositeChargesStayTogether) {
  EXPECT_THAT(fragments_of("[O-][n+]1ccccc1C").of_atom, ElementsAre(0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(fragments_of("C1CC1[S+]([O-])C1CC1").of_atom, ElementsAre(0, 0, 0, 1, 1, 2, 2, 2));
  EXPECT_THAT(fragments_of("O=[N+]([O-])c1ccccc1").of_atom, ElementsAre(0, 0, 0, 1, 1, 1, 1, 1, 1));
}

// For real molecules, the atoms of the molecule without a fragment are those of the other fragments.
TEST(MurckoFragments, OnlyTheFragmentIsMissing) {
  const Featurizer featurizer;
  std::size_t checked = 0;
  for (const auto& row : test::golden_rows(test::tests_dir("golden") + "/ogb_features.csv.gz")) {
    const std::string& smiles = row.at(0);
    const MoleculeFragments fragments = fragments_of(smiles);
    for (std::size_t f = 0; f < fragments.without.size(); ++f) {
      const auto size = std::ranges::count(fragments.of_atom, static_cast<int>(f));
      const auto left = static_cast<int>(std::ssize(fragments.of_atom) - size);
      if (left == 0) continue;
      const FeaturizeResult rest = featurizer.smiles(fragments.without[f]);
      ASSERT_TRUE(std::holds_alternative<MolecularGraph>(rest)) << smiles << " " << fragments.without[f];
      EXPECT_EQ(std::get<MolecularGraph>(rest).num_atoms(), left) << smiles << " " << fragments.without[f];
      ++checked;
    }
  }
  EXPECT_GT(checked, 1000u);
}

TEST(MurckoFragments, TakeTheMoleculeThatTheModelSees) {
  FeaturizerOptions options;
  options.standardize = Standardize::parent;
  const MoleculeFragments salt = fragments_of("c1ccccc1C(=O)[O-].[Na+]", options);
  EXPECT_THAT(salt.of_atom, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1));
  EXPECT_THROW(fragments_of("C1CC"), DataError);
}

}  // namespace
}  // namespace molgraph
