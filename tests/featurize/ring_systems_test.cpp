// Ring system numbers: equal systems have equal numbers in every spelling, different systems have different numbers.
#include "featurize/graph/ring_systems.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

std::vector<std::uint64_t> systems(const std::string& smiles) {
  const FeaturizeResult result = Featurizer({.features = Features::molgraph}).smiles(smiles);
  const auto* graph = std::get_if<MolecularGraph>(&result);
  EXPECT_NE(graph, nullptr) << smiles;
  return graph == nullptr ? std::vector<std::uint64_t>() : ring_systems(graph->view());
}

TEST(RingSystems, ChainsAndSingleAtomsHaveNoRingSystems) {
  for (const char* smiles : {"C", "CCO", "CC(C)(C)C=O", "[Na+].[Cl-]"}) EXPECT_TRUE(systems(smiles).empty()) << smiles;
}

TEST(RingSystems, IndependentOfSubstituentsSpellingAndPosition) {
  const auto benzene = systems("c1ccccc1");
  ASSERT_EQ(benzene.size(), 1u);
  for (const char* smiles :
       {"Cc1ccccc1", "c1cc(O)ccc1CCN", "c1ccccc1.[Na+]", "c1ccc(cc1)-c1ccccc1", "OC(=O)c1cccc(Cl)c1"})
    EXPECT_EQ(systems(smiles), benzene) << smiles;
  EXPECT_EQ(systems("c1ccc2c(c1)cc[nH]2"), systems("C1=CNc2ccccc12"));                        // indole
  EXPECT_EQ(systems("Cn1cnc2c1c(=O)n(C)c(=O)n2C"), systems("O=c1[nH]c(=O)[nH]c2nc[nH]c12"));  // xanthines
}

TEST(RingSystems, RingsWithSharedAtomsAreOneSystem) {
  EXPECT_EQ(systems("C1CCC2CCCCC2C1").size(), 1u);    // fused
  EXPECT_EQ(systems("C1CC2CCC1C2").size(), 1u);       // bridged
  EXPECT_EQ(systems("C1CCC2(CC1)CCCC2").size(), 1u);  // spiro
  EXPECT_EQ(systems("C1CCCCC1C1CCCC1").size(), 2u);   // connected by a bond
  EXPECT_EQ(systems("C1CCCCC1CC1CCCC1.c1ccccc1").size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(systems("C1CCCCC1CC1CCCC1.c1ccccc1")));
}

TEST(RingSystems, DifferentSystemsHaveDifferentNumbers) {
  const std::vector<std::string> all{"c1ccccc1",
                                     "C1CCCCC1",
                                     "C1CCCC=C1",
                                     "c1ccncc1",
                                     "c1ccsc1",
                                     "c1ccoc1",
                                     "C1CCCC1",
                                     "C1CCOCC1",
                                     "C1COCCO1",
                                     "C1OCCCO1",
                                     "c1ccc2ccccc2c1",
                                     "c1ccc2c(c1)cccn2",
                                     "c1ccc2cnccc2c1",
                                     "C1CCC2CCCCC2C1",
                                     "C1CCC2CCCC2CC1",
                                     "C1CCC2(CC1)CCCC2",
                                     "C1CC2CCC1C2",
                                     "c1cnc2[nH]ccc2c1",
                                     "c1ccc2c(c1)[nH]cc2",
                                     "C1=Cc2cccc3cccc1c23",
                                     "c1ccc2cc3ccccc3cc2c1",
                                     "c1ccc2c(c1)ccc1ccccc12",
                                     "C12C3C4C1C5C4C3C25",   // cubane
                                     "C12C3C1C1C4C1C3C24"};  // cuneane: as in cubane, every atom has three neighbours
  std::vector<std::uint64_t> numbers;
  for (const std::string& smiles : all) {
    ASSERT_EQ(systems(smiles).size(), 1u) << smiles;
    numbers.push_back(systems(smiles)[0]);
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = i + 1; k < all.size(); ++k) EXPECT_NE(numbers[i], numbers[k]) << all[i] << " " << all[k];
}

}  // namespace
}  // namespace molgraph
