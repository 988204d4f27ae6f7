// --standardize parent removes salts and solvents and neutralises charges, in every feature set.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <variant>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"
#include "tests/golden/spellings.hpp"

namespace molgraph::test {
namespace {

FeaturizerOptions parents(Features features) { return {.features = features, .standardize = Standardize::parent}; }

std::string parent(const std::string& smiles) { return canonical_smiles(smiles, Standardize::parent); }

/// A graph as text, or the status and reason of its rejection.
std::string graph_text(const FeaturizeResult& result) {
  if (const auto* rejection = std::get_if<Rejection>(&result))
    return std::string(to_string(rejection->status)) + ": " + rejection->reason;
  const auto& graph = std::get<MolecularGraph>(result);
  std::string text;
  for (const auto value : graph.atoms) text += std::to_string(value) + " ";
  for (const auto value : graph.bond_atoms) text += "-" + std::to_string(value);
  for (const auto value : graph.bonds) text += " " + std::to_string(value);
  return text;
}

TEST(Parent, KnownParents) {
  const std::map<std::string, std::string> known{
      {"CCO", "CCO"},
      {"CCO.Cl", "CCO"},
      {"Cl.OCC.O.O", "CCO"},
      {"CC(=O)[O-].[Na+]", "CC(=O)O"},
      {"[Na+].[Na+].[O-]S(=O)(=O)c1ccccc1", "O=S(=O)(O)c1ccccc1"},
      {"C[NH2+]CC.[Br-]", "CCNC"},
      {"c1cc[nH+]cc1.[O-]C=O", "c1ccncc1"},
      {"[NH3+]CC(=O)[O-]", "NCC(=O)O"},                    // a zwitterion
      {"C[N+](C)(C)C.[Cl-]", "C[N+](C)(C)C"},              // cannot be neutralised
      {"C[N+](C)(C)CC(=O)[O-]", "C[N+](C)(C)CC(=O)[O-]"},  // the opposite charge is kept too
      {"C[N+](=O)[O-]", "C[N+](=O)[O-]"},
      {"[O-][n+]1ccccc1", "[O-][n+]1ccccc1"},
      {"[Na+].[Cl-]", "Cl"},                                   // no organic fragment: the largest one
      {"[Cl-].[Cl-].[Pt+2].NC", "CN"},                         // fragments with carbon take precedence
      {"[O-]S(=O)(=O)C(F)(F)F.C[n+]1ccccc1", "C[n+]1ccccc1"},  // the larger of two organic fragments
      {"CC(=O)O[Na]", "CC(=O)O[Na]"},                          // bonds to metals are kept
      {"C[C@H](N)C(=O)[O-].[K+]", "C[C@H](N)C(=O)O"},          // stereochemistry is kept
      {"C/C=C/C[O-].[K+]", "C/C=C/CO"},
      {"C[C@H](O)[O-].[K+]", "CC(O)O"},  // no stereocentre after neutralisation
      {"[13CH3]C[O-].[K+]", "[13CH3]CO"},
      {"[Fe+2].[cH-]1cccc1.[cH-]1cccc1", "C1=CCC=C1"},
  };
  for (const auto& [text, expected] : known) EXPECT_EQ(parent(text), canonical_smiles(expected)) << text;
  EXPECT_EQ(canonical_smiles("CCO.Cl"), "CCO.Cl") << "no standardisation by default";
}

TEST(Parent, SaltEqualsItsParentInEveryFeatureSet) {
  for (const Features features : kFeatureSets) {
    const Featurizer none({.features = features}), featurizer(parents(features));
    const std::pair<const char*, const char*> pairs[] = {{"CCO.Cl", "CCO"},
                                                         {"Cl.CCO", "CCO"},
                                                         {"CC(=O)[O-].[Na+]", "CC(=O)O"},
                                                         {"Oc1ccccc1[O-].[K+]", "Oc1ccccc1O"},
                                                         {"C[NH+](C)CCC=CC.Cl", "CN(C)CCC=CC"},
                                                         {"c1c[nH+]ccc1C.O", "c1cnccc1C"},
                                                         {"C[C@H]([NH3+])C([O-])=O", "C[C@H](N)C(O)=O"},
                                                         {"F/C=C/C([O-])=O.[Na+]", "F/C=C/C(O)=O"},
                                                         {"[O-]C(=O)C1=CC=CC=C1.[Na+]", "OC(=O)C1=CC=CC=C1"}};
    for (const auto& [salt, expected] : pairs) {
      EXPECT_EQ(graph_text(featurizer.smiles(salt)), graph_text(none.smiles(expected)))
          << to_string(features) << " " << salt;
      EXPECT_NE(graph_text(featurizer.smiles(salt)), graph_text(none.smiles(salt))) << salt;
    }
  }
}

TEST(Parent, SaltEqualsItsParentInEverySpelling) {
  for (const Features features : kFeatureSets) {
    const Featurizer none({.features = features}), featurizer(parents(features));
    for (const Spelling& spelling : spellings()) {
      const std::string expected = graph_text(none.smiles(spelling.smiles));
      if (spelling.smiles.find_first_of("+-") != std::string::npos) continue;  // contains charges or "-" bonds
      if (spelling.smiles.find('.') != std::string::npos) continue;
      EXPECT_EQ(graph_text(featurizer.smiles(spelling.smiles)), expected) << "unchanged: " << spelling.smiles;
      EXPECT_EQ(graph_text(featurizer.smiles(spelling.smiles + ".Cl")), expected) << spelling.smiles;
      EXPECT_EQ(graph_text(featurizer.smiles("[Na+]." + spelling.smiles + ".O")), expected) << spelling.smiles;
    }
  }
}

TEST(Parent, WorksForMolBlocks) {
  // Sodium formate: C, O, O-, Na+.
  const std::string block =
      "\n  test\n\n  4  2  0  0  0  0  0  0  0  0999 V2000\n"
      "    0.0000    0.0000    0.0000 C   0  0\n    1.2000    0.0000    0.0000 O   0  0\n"
      "   -0.6000    1.0000    0.0000 O   0  5\n    5.0000    0.0000    0.0000 Na  0  3\n"
      "  1  2  2  0\n  1  3  1  0\nM  END\n";
  EXPECT_EQ(graph_text(Featurizer(parents(Features::ogb)).mol_block(block)), graph_text(Featurizer().smiles("C(=O)O")));
  EXPECT_EQ(smiles_of_mol_block(block), "O=C[O-].[Na+]") << "the displayed SMILES is that of the input";
}

TEST(Parent, ScaffoldsAreThoseOfTheParent) {
  EXPECT_EQ(murcko_scaffold("CCc1ccccc1.C1CC1C"), "C1CC1.c1ccccc1");
  EXPECT_EQ(murcko_scaffold("CCc1ccccc1.C1CC1C", Standardize::parent), "c1ccccc1");
  EXPECT_EQ(murcko_scaffold("Cc1cc[nH+]cc1.[Cl-]", Standardize::parent), murcko_scaffold("Cc1ccncc1"));
}

TEST(Parent, MissingParentIsRejectedWithReason) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const Features features : {Features::ogb, Features::molgraph}) {
    EXPECT_EQ(graph_text(Featurizer(parents(features)).smiles("[CH5+]")),
              "invalid_smiles: no parent structure: Explicit valence for atom # 0 C, 6, is greater than permitted");
    EXPECT_EQ(graph_text(Featurizer(parents(features)).smiles("C1CC")), "invalid_smiles: ring 1 not closed");
  }
  EXPECT_EQ(parent("[CH5+]"), "");
  EXPECT_THROW(murcko_scaffold("[CH5+]", Standardize::parent), DataError);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_TRUE(std::holds_alternative<MolecularGraph>(Featurizer().smiles("[CH5+]")))
      << "accepted without standardisation";
}

TEST(Parent, AtomLimitAppliesToTheInput) {
  const FeaturizeResult result = Featurizer(parents(Features::molgraph), {.max_atoms = 3}).smiles("CCO.Cl");
  EXPECT_EQ(graph_text(result), "too_large: 4 atoms, the limit is 3");
}

TEST(Parent, ThreadSafe) {
  const Featurizer featurizer(parents(Features::molgraph));
  const std::vector<std::string> texts{"CC(=O)[O-].[Na+]", "C[NH2+]CC.[Br-]", "[NH3+]C(C)C([O-])=O", "[CH5+]",
                                       "OCC.Cl"};
  std::vector<std::string> expected;
  for (const std::string& text : texts) expected.push_back(graph_text(featurizer.smiles(text)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t round = 0; round < 200; ++round) {
        const std::size_t k = (round + static_cast<std::size_t>(t)) % texts.size();
        wrong += graph_text(featurizer.smiles(texts[k])) != expected[k];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace molgraph::test
