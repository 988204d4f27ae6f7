#include "featurize/smiles/smiles.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

Rejection rejection_of(const std::string& smiles, const FeaturizerLimits& limits = {}) {
  const FeaturizeResult result = Featurizer({}, limits).smiles(smiles);
  if (const auto* rejection = std::get_if<Rejection>(&result)) return *rejection;
  ADD_FAILURE() << "'" << smiles << "' is accepted";
  return {RowStatus::ok, ""};
}

int atoms_of(const std::string& smiles, const FeaturizerLimits& limits = {}) {
  const FeaturizeResult result = Featurizer({}, limits).smiles(smiles);
  if (const auto* graph = std::get_if<MolecularGraph>(&result)) return graph->num_atoms();
  ADD_FAILURE() << "'" << smiles << "': " << std::get<Rejection>(result).reason;
  return 0;
}

TEST(Smiles, StatusNames) {
  EXPECT_EQ(to_string(RowStatus::ok), "ok");
  EXPECT_EQ(to_string(RowStatus::too_large), "too_large");
  EXPECT_EQ(to_string(RowStatus::invalid_smiles), "invalid_smiles");
}

TEST(Smiles, EmptyTextIsRejected) {
  for (const char* text : {"", " ", "\t \r\n"}) EXPECT_EQ(rejection_of(text).status, RowStatus::empty);
}

TEST(Smiles, InvalidTextIsRejectedWithReason) {
  const std::pair<std::string, std::string> known[] = {
      {"C1CC", "ring 1 not closed"},
      {"C1CC2CC%12", "rings 1, 2, 12 not closed"},
      {"CC(C", "extra open parentheses"},
      {"CC)C", "extra close parentheses"},
      {"CCx", "syntax error: 'x' is not a SMILES symbol (character 3)"},
      {"C(C)(C)(C)(C)C", "Explicit valence for atom # 0 C, 5, is greater than permitted"},
      {"c1cccn1", "Can't kekulize mol. Unkekulized atoms: 0 1 2 3 4"},
      {"C11", "duplicated ring closure 1 bonds atom 0 to itself"},
      {"C |bad", "failure parsing CXSMILES extensions"},
      {"CC CC", "blank inside the SMILES (character 3)"},
      {std::string("C\0C", 3), "the control character U+0000 is not a SMILES symbol (character 2)"},
      {"C\xE2\x80\x93"
       "C",
       "'\xE2\x80\x93' (U+2013) is not a SMILES symbol (character 2)"},
      {"\xD0\xA1O", "'\xD0\xA1' (U+0421) is not a SMILES symbol (character 1)"},
      {"CO\x1B[0m", "the control character U+001B is not a SMILES symbol (character 3)"},
  };
  for (const auto& [text, reason] : known) {
    const Rejection rejection = rejection_of(text);
    EXPECT_EQ(rejection.status, RowStatus::invalid_smiles) << text;
    EXPECT_EQ(rejection.reason, reason) << text;
  }
}

TEST(Smiles, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  rejection_of("C1CC");
  rejection_of("C(C)(C)(C)(C)C");
  rejection_of("c1cccn1");
  atoms_of("[2H]");  // RDKit warns about it
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Smiles, SurroundingBlanksAreIgnored) { EXPECT_EQ(atoms_of("  CCO\t\r\n"), 3); }

TEST(Smiles, CxsmilesExtensionsAreAccepted) { EXPECT_EQ(atoms_of("CCO |(0,0,0;1.5,0,0;2,1,0)|"), 3); }

TEST(Smiles, HydrogensAreFoldedIn) {
  EXPECT_EQ(atoms_of("[H]C([H])([H])[H]"), 1);
  EXPECT_EQ(atoms_of("[H][H]"), 2);
  EXPECT_EQ(atoms_of("[2H]"), 1);
  EXPECT_EQ(atoms_of("[H+]"), 1);
  EXPECT_EQ(atoms_of("[2H]C"), 2) << "an isotope remains an explicit atom";
}

TEST(Smiles, AllFragmentsAreKept) { EXPECT_EQ(atoms_of("[Na+].CC(=O)[O-]"), 5); }

TEST(Smiles, ReasonNamesTheLimit) {
  const std::string chain(40, 'C');
  Rejection rejection = rejection_of(chain, {.max_atoms = 39});
  EXPECT_EQ(rejection.status, RowStatus::too_large);
  EXPECT_EQ(rejection.reason, "40 atoms, the limit is 39");
  EXPECT_EQ(atoms_of(chain, {.max_atoms = 40}), 40);
  rejection = rejection_of(chain, {.max_atoms = 1024, .max_text = 39});
  EXPECT_EQ(rejection.status, RowStatus::too_large);
  EXPECT_EQ(rejection.reason, "40 characters, the limit is 39");
}

TEST(Smiles, ExplicitHydrogensCountTowardsTheLimit) {
  const Rejection rejection = rejection_of("[2H]C([2H])([2H])[2H]", {.max_atoms = 4});
  EXPECT_EQ(rejection.reason, "5 atoms, the limit is 4");
}

TEST(Smiles, MoreThan255Atoms) { EXPECT_EQ(atoms_of(std::string(700, 'C')), 700); }

TEST(Smiles, AtomsAreNumberedInInputOrder) {
  const auto graph = std::get<MolecularGraph>(Featurizer().smiles("OC(=O)N"));
  EXPECT_EQ(graph.bond_atoms, (std::vector<std::uint16_t>{0, 1, 1, 2, 1, 3}));
  EXPECT_EQ(graph.view().num_bonds, 3);
}

TEST(Smiles, HostileTextGivesRejectionOrGraph) {
  const std::string texts[] = {std::string(60000, '('),
                               std::string(60000, '['),
                               std::string(60000, '%'),
                               std::string(60000, '='),
                               std::string(1000, 'C') + '(',
                               std::string(60000, '\x01'),
                               "[C+2147483648]",
                               "[99999999999C]",
                               "C%(99999)C",
                               "[CH-2147483649]",
                               "[C:99999999999]",
                               "\xFF\xFE",
                               "C{A}C",
                               "[$(C)]",
                               "C>>C",
                               "[C@TB99]",
                               "[C@OH99]",
                               std::string(500, '.')};
  for (const std::string& text : texts) {
    const FeaturizeResult result = Featurizer().smiles(text);
    if (const auto* rejection = std::get_if<Rejection>(&result)) {
      EXPECT_FALSE(rejection->reason.empty());
      EXPECT_EQ(rejection->reason.find('\n'), std::string::npos);
      EXPECT_LE(rejection->reason.size(), 200u);
    } else {
      EXPECT_GT(std::get<MolecularGraph>(result).num_atoms(), 0);
    }
  }
}

TEST(Smiles, ToolkitVersionIsAvailable) { EXPECT_EQ(rdkit_version().substr(0, 2), "20"); }

}  // namespace
}  // namespace molgraph
