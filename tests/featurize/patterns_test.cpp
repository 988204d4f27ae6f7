// Compares the pattern search with RDKit's for every molecule and every pattern.
#include <GraphMol/GraphMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/Substruct/SubstructMatch.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "featurize/descriptors/counted_patterns.hpp"
#include "featurize/descriptors/work.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "tests/featurize/golden_table.hpp"
#include "tests/support/places.hpp"

namespace molgraph::descriptors {
namespace {

std::unique_ptr<RDKit::ROMol> molecule_of(const std::string& smiles) {
  return std::unique_ptr<RDKit::ROMol>(RDKit::SmilesToMol(smiles));
}

std::vector<int> all_of(const CountedPatterns& patterns) {
  std::vector<int> all = patterns.fragments;
  all.insert(all.end(), {patterns.acceptor, patterns.donor, patterns.rotatable});
  all.insert(all.end(), patterns.qed_acceptors.begin(), patterns.qed_acceptors.end());
  all.insert(all.end(), patterns.qed_alerts.begin(), patterns.qed_alerts.end());
  return all;
}

TEST(Patterns, MatchCountsEqualRdkit) {
  const CountedPatterns patterns(rdkit_data_dir() + "/Data/FragmentDescriptors.csv");
  const std::vector<std::string> smiles = test::golden_rows(test::tests_dir("golden") + "/descriptors.csv.gz").front();
  std::vector<int> found(patterns.library.patterns());
  Work work;
  for (std::size_t k = 1; k < smiles.size(); k += 3) {
    const auto molecule = molecule_of(smiles[k]);
    ASSERT_NE(molecule, nullptr) << smiles[k];
    work.assign(*molecule);
    work.matcher.assign(patterns.library, work.molecule, work.parts);
    for (const int pattern : all_of(patterns)) {
      const RDKit::ROMol& query = *patterns.library.pattern(pattern).query;
      const auto matches = RDKit::SubstructMatch(*molecule, query);
      EXPECT_EQ(patterns.count(work.matcher, *molecule, pattern), static_cast<int>(matches.size())) << smiles[k];
      EXPECT_EQ(work.matcher.exists(pattern), !matches.empty()) << smiles[k];
      found[static_cast<std::size_t>(pattern)] += static_cast<int>(matches.size());
    }
  }
  int seen = 0;
  for (const int pattern : all_of(patterns)) seen += found[static_cast<std::size_t>(pattern)] > 0;
  EXPECT_GT(seen, 150);  // of 215: the molecules cover most patterns
}

/// Every kind of pattern that the compiler supports, including kinds that the lists do not contain.
TEST(Patterns, EveryKindMatchesRdkit) {
  const std::vector<std::string> texts = {"[C,N;R]~[!C]",
                                          "[$(C=O),$(C-N)]-[!$(C=O)&!$(*#*)]",
                                          "[!$([C;R]),$(C1CC1)]",
                                          "C1CCCCC1.C1CCCCC1",
                                          "*~*~*~*",
                                          "[#6]!@[#6]",
                                          "[$([$(C(-O)=O)]-C)]",
                                          "[C&$(C-[!#6])&!$(C(-O)-O)]",
                                          "C=,:[#6,#7]",
                                          "[!$(C);!$(N)]",
                                          "a:a",
                                          "[X3]=[X1]",
                                          "[+]",
                                          "[-,+;!#6]",
                                          "[13C]",
                                          "[R2]@[R]",
                                          "C~1~C~C~C~C~1",
                                          "[!$([!$([!$(C-O)])])]",
                                          "[D1]-[D3](-[D1])",
                                          "[C;!$(C(-[F,Cl])-[F,Cl])]",
                                          "*1~*~*~*1",
                                          "C1CC1",
                                          "CC",
                                          "C.C",
                                          "*12~*~*~*~1~*~*~*2",
                                          "C(C)(C)(C)",
                                          "*~[Na,Fe,*]~*"};
  PatternLibrary library;
  std::vector<int> numbers;
  for (const std::string& text : texts) numbers.push_back(library.add(text, text));
  Work work;
  for (const char* smiles :
       {"CC(=O)Oc1ccccc1C(=O)O", "C1CC1C(F)(Cl)C(=O)N", "C1CCCCC1C1CCCCC1", "[13CH3]C#CC[N+](C)(C)C",
        "C1CC2CC1CC2C(C)(C)O", "OC(O)(F)C=C", "[Na+].[Cl-]", "CC(C)C(=O)N1CCCC1", "C12C3C4C1C5C2C3C45", "C1CC1CC1CC1",
        "C1CCC1C1CCC2CC12", "[Fe]12<-NCCN->1CCN->2", "C12(CCCC1)CCCC2"}) {
    const auto molecule = molecule_of(smiles);
    work.assign(*molecule);
    work.matcher.assign(library, work.molecule, work.parts);
    for (std::size_t p = 0; p < texts.size(); ++p) {
      const auto matches = RDKit::SubstructMatch(*molecule, *library.pattern(numbers[p]).query);
      EXPECT_EQ(work.matcher.count(numbers[p]), static_cast<int>(matches.size())) << texts[p] << " in " << smiles;
      EXPECT_EQ(work.matcher.exists(numbers[p]), !matches.empty()) << texts[p] << " in " << smiles;
    }
  }
}

/// Atom sets of molecules with more than 64 atoms need several words. A pattern with very many mappings is left to
/// RDKit (count -1).
TEST(Patterns, LargeMolecules) {
  PatternLibrary library;
  const int pair = library.add("[CH2][CH2]", "pair"), ring = library.add("c1ccccc1", "ring");
  const int spiro = library.add("[CD4]1(CC1)C", "a quaternary atom of a small ring");
  Work work;
  const auto search_in = [&](const RDKit::ROMol& molecule) {
    work.assign(molecule);
    work.matcher.assign(library, work.molecule, work.parts);
  };
  const auto chain = molecule_of(std::string(200, 'C'));
  search_in(*chain);
  EXPECT_EQ(work.matcher.count(pair), 197);
  const auto long_chain = molecule_of(std::string(600, 'C'));
  search_in(*long_chain);
  EXPECT_EQ(work.matcher.count(pair), -1);
  EXPECT_EQ(work.matcher.count(ring), 0);
  // The search finds every ring from each of its six atoms in both directions: 83 * 12 mappings are fewer than 1,000.
  const auto phenyls = [](int rings) {
    std::string smiles = "C";
    for (int k = 0; k < rings; ++k) smiles += "C(c1ccccc1)";
    return molecule_of(smiles);
  };
  const auto many_rings = phenyls(83), too_many_rings = phenyls(84);
  search_in(*many_rings);
  EXPECT_EQ(work.matcher.count(ring), 83);
  EXPECT_EQ(work.matcher.count(spiro), 0);
  search_in(*too_many_rings);
  EXPECT_EQ(work.matcher.count(ring), -1);
  const auto ring_at_the_end = molecule_of(std::string(100, 'C') + "C1(C)CC1");
  search_in(*ring_at_the_end);
  EXPECT_EQ(work.matcher.count(spiro), 2);
}

}  // namespace
}  // namespace molgraph::descriptors
