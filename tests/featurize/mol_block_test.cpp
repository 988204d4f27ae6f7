#include <gtest/gtest.h>

#include "featurize/smiles/block_atoms.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

/// Methanol with explicit hydrogens in V2000 format, followed by a data item.
const std::string kMethanol = R"(methanol
  by hand

  6  5  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0
    1.4000    0.0000    0.0000 O   0  0
   -0.4000    1.0000    0.0000 H   0  0
   -0.4000   -0.5000    0.9000 H   0  0
   -0.4000   -0.5000   -0.9000 H   0  0
    1.7000    0.9000    0.0000 H   0  0
  1  2  1  0
  1  3  1  0
  1  4  1  0
  1  5  1  0
  2  6  1  0
M  END
> <gap>
7.5
)";

/// Pyridinium in V3000 format.
const std::string kPyridinium = R"(
  by hand

  0  0  0     0  0            999 V3000
M  V30 BEGIN CTAB
M  V30 COUNTS 6 6 0 0 0
M  V30 BEGIN ATOM
M  V30 1 C 0 1.4 0 0
M  V30 2 C 1.2 0.7 0 0
M  V30 3 C 1.2 -0.7 0 0
M  V30 4 N 0 -1.4 0 0 CHG=1
M  V30 5 C -1.2 -0.7 0 0
M  V30 6 C -1.2 0.7 0 0
M  V30 END ATOM
M  V30 BEGIN BOND
M  V30 1 2 1 2
M  V30 2 1 2 3
M  V30 3 2 3 4
M  V30 4 1 4 5
M  V30 5 2 5 6
M  V30 6 1 6 1
M  V30 END BOND
M  V30 END CTAB
M  END
)";

std::string with_windows_line_ends(const std::string& text) {
  std::string other;
  for (const char c : text) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return other;
}

void expect_same_graph(const FeaturizeResult& result, const std::string& smiles) {
  ASSERT_TRUE(std::holds_alternative<MolecularGraph>(result)) << std::get<Rejection>(result).reason;
  const auto& graph = std::get<MolecularGraph>(result);
  const auto expected = std::get<MolecularGraph>(Featurizer().smiles(smiles));
  EXPECT_EQ(graph.atoms, expected.atoms);
  EXPECT_EQ(graph.bond_atoms, expected.bond_atoms);
  EXPECT_EQ(graph.bonds, expected.bonds);
}

TEST(MolBlock, ReadsV2000WithHydrogens) { expect_same_graph(Featurizer().mol_block(kMethanol), "CO"); }
TEST(MolBlock, AcceptsWindowsLineEnds) {
  expect_same_graph(Featurizer().mol_block(with_windows_line_ends(kMethanol)), "CO");
}
TEST(MolBlock, ReadsV3000) { expect_same_graph(Featurizer().mol_block(kPyridinium), "c1cc[nH+]cc1"); }

TEST(MolBlock, ConvertsToCanonicalSmiles) {
  EXPECT_EQ(smiles_of_mol_block(kMethanol), "CO");
  EXPECT_EQ(smiles_of_mol_block(kPyridinium), "c1cc[nH+]cc1");
  EXPECT_EQ(smiles_of_mol_block("no mol block"), "");
}

TEST(MolBlock, InvalidRecordsAreRejectedWithReason) {
  const Featurizer featurizer;
  const auto rejection_of = [&](const std::string& block) {
    const FeaturizeResult result = featurizer.mol_block(block);
    EXPECT_TRUE(std::holds_alternative<Rejection>(result)) << block.substr(0, 60);
    return std::holds_alternative<Rejection>(result) ? std::get<Rejection>(result) : Rejection{};
  };
  EXPECT_EQ(rejection_of("\n\n \n").status, RowStatus::empty);
  EXPECT_EQ(rejection_of("\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n").status, RowStatus::no_atoms);
  EXPECT_EQ(rejection_of("just text\n").status, RowStatus::invalid_smiles);
  // A record truncated at every 40th character gives a rejection or a graph, never an exception or a crash.
  for (std::size_t length = 0; length < kMethanol.size(); length += 40) {
    const FeaturizeResult result = featurizer.mol_block(kMethanol.substr(0, length));
    const auto* rejection = std::get_if<Rejection>(&result);
    EXPECT_TRUE(rejection == nullptr || !rejection->reason.empty());
  }
  std::string overbonded = kMethanol;
  overbonded.replace(overbonded.find("  1  2  1  0"), 12, "  1  2  3  0");
  EXPECT_NE(rejection_of(overbonded).reason.find("valence"), std::string::npos);
}

TEST(MolBlock, AtomsAreCountedBeforeParsing) {
  EXPECT_EQ(count_block_atoms(kMethanol), 2) << "without hydrogens";
  EXPECT_EQ(count_block_atoms(with_windows_line_ends(kMethanol)), 2);
  EXPECT_EQ(count_block_atoms(kPyridinium), 6);
  EXPECT_EQ(count_block_atoms("no mol block"), 0);
  FeaturizerLimits limits;
  limits.max_atoms = 5;
  const FeaturizeResult result = Featurizer({}, limits).mol_block(kPyridinium);
  ASSERT_TRUE(std::holds_alternative<Rejection>(result));
  EXPECT_EQ(std::get<Rejection>(result).status, RowStatus::too_large);
}

// RDKit needs more than ten minutes to perceive the stereochemistry of this chain.
TEST(MolBlock, LargeRecordsAreRejectedWithoutParsing) {
  constexpr int kLength = 30'000;
  std::string block = "\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS " +
                      std::to_string(kLength) + " " + std::to_string(kLength - 1) + " 0 0 0\nM  V30 BEGIN ATOM\n";
  for (int i = 1; i <= kLength; ++i) block += "M  V30 " + std::to_string(i) + " C 0 0 0 0\n";
  block += "M  V30 END ATOM\nM  V30 BEGIN BOND\n";
  for (int i = 1; i < kLength; ++i)
    block += "M  V30 " + std::to_string(i) + " 1 " + std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  block += "M  V30 END BOND\nM  V30 END CTAB\nM  END\n";
  EXPECT_EQ(count_block_atoms(block), kLength);
  const FeaturizeResult result = Featurizer().mol_block(block);
  ASSERT_TRUE(std::holds_alternative<Rejection>(result));
  EXPECT_EQ(std::get<Rejection>(result).status, RowStatus::too_large);
}

TEST(MolBlock, AtomListsAreUnsupported) {
  std::string block = kMethanol;
  block.replace(block.find("1.4000    0.0000    0.0000 O"), 28, "1.4000    0.0000    0.0000 L");
  block.replace(block.find("M  END"), 6, "M  ALS   2  2 F O   S   \nM  END");
  const FeaturizeResult result = Featurizer().mol_block(block);
  ASSERT_TRUE(std::holds_alternative<Rejection>(result));
  EXPECT_EQ(std::get<Rejection>(result).status, RowStatus::unsupported);
}

}  // namespace
}  // namespace molgraph
