#include <gtest/gtest.h>

#include <sstream>

#include "featurize/smiles/smiles.hpp"
#include "tests/featurize/golden_table.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

/// The columns in the format of the golden table: atoms "5 0 4 5 4 0 2 0 0;...", bonds "0 1 0 0 0;...".
std::pair<std::string, std::string> as_text(const MolecularGraph& graph) {
  const auto row = [](std::ostream& out, const std::uint8_t* columns, int count) {
    for (int c = 0; c < count; ++c) out << (c > 0 ? " " : "") << static_cast<int>(columns[c]);
  };
  std::ostringstream atoms, bonds;
  for (int a = 0; a < graph.num_atoms(); ++a) {
    if (a > 0) atoms << ';';
    row(atoms, graph.view().atoms[a], 9);
  }
  for (int b = 0; b < graph.num_bonds(); ++b) {
    if (b > 0) bonds << ';';
    bonds << graph.bond_atoms[static_cast<std::size_t>(2 * b)] << ' '
          << graph.bond_atoms[static_cast<std::size_t>(2 * b + 1)] << ' ';
    row(bonds, graph.view().bonds[b], 3);
  }
  return {atoms.str(), bonds.str()};
}

void expect_features(const std::string& smiles, const std::string& atoms, const std::string& bonds) {
  const FeaturizeResult result = Featurizer().smiles(smiles);
  const auto* graph = std::get_if<MolecularGraph>(&result);
  ASSERT_NE(graph, nullptr) << smiles << ": " << std::get<Rejection>(result).reason;
  const auto [own_atoms, own_bonds] = as_text(*graph);
  EXPECT_EQ(own_atoms, atoms) << smiles;
  EXPECT_EQ(own_bonds, bonds) << smiles;
}

struct HandChecked {
  const char* smiles;
  const char* atoms;
  const char* bonds;
};

/// Derived by hand from the definition (number - 1, chirality, degree with H, charge + 5, H, radicals,
/// hybridisation, aromatic, ring | type, stereo, conjugated). 5 in column 7 means hybridisation s or unknown.
const HandChecked kHandChecked[] = {
    {"C", "5 0 4 5 4 0 2 0 0", ""},
    {"CCO", "5 0 4 5 3 0 2 0 0;5 0 4 5 2 0 2 0 0;7 0 2 5 1 0 2 0 0", "0 1 0 0 0;1 2 0 0 0"},
    {"C=C", "5 0 3 5 2 0 1 0 0;5 0 3 5 2 0 1 0 0", "0 1 1 0 0"},
    {"C#N", "5 0 2 5 1 0 0 0 0;6 0 1 5 0 0 0 0 0", "0 1 2 0 0"},
    {"C=CC=C", "5 0 3 5 2 0 1 0 0;5 0 3 5 1 0 1 0 0;5 0 3 5 1 0 1 0 0;5 0 3 5 2 0 1 0 0",
     "0 1 1 0 1;1 2 0 0 1;2 3 1 0 1"},
    {"c1ccccc1",
     "5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1",
     "0 1 3 0 1;1 2 3 0 1;2 3 3 0 1;3 4 3 0 1;4 5 3 0 1;5 0 3 0 1"},
    {"c1cc[nH]c1", "5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1;6 0 3 5 1 0 1 1 1;5 0 3 5 1 0 1 1 1",
     "0 1 3 0 1;1 2 3 0 1;2 3 3 0 1;3 4 3 0 1;4 0 3 0 1"},
    {"C1CC1", "5 0 4 5 2 0 2 0 1;5 0 4 5 2 0 2 0 1;5 0 4 5 2 0 2 0 1", "0 1 0 0 0;1 2 0 0 0;2 0 0 0 0"},
    {"[NH4+]", "6 0 4 6 4 0 2 0 0", ""},
    {"[Na+].[Cl-]", "10 0 0 6 0 0 5 0 0;16 0 0 4 0 0 2 0 0", ""},
    {"[CH3]", "5 0 3 5 3 1 2 0 0", ""},
    {"FS(F)(F)(F)(F)F",
     "8 0 1 5 0 0 2 0 0;15 0 6 5 0 0 4 0 0;8 0 1 5 0 0 2 0 0;8 0 1 5 0 0 2 0 0;8 0 1 5 0 0 2 0 0;8 0 1 5 0 0 2 0 0;"
     "8 0 1 5 0 0 2 0 0",
     "0 1 0 0 0;1 2 0 0 0;1 3 0 0 0;1 4 0 0 0;1 5 0 0 0;1 6 0 0 0"},
    {"FP(F)(F)(F)F",
     "8 0 1 5 0 0 2 0 0;14 0 5 5 0 0 3 0 0;8 0 1 5 0 0 2 0 0;8 0 1 5 0 0 2 0 0;8 0 1 5 0 0 2 0 0;8 0 1 5 0 0 2 0 0",
     "0 1 0 0 0;1 2 0 0 0;1 3 0 0 0;1 4 0 0 0;1 5 0 0 0"},
    {"C/C=C/C", "5 0 4 5 3 0 2 0 0;5 0 3 5 1 0 1 0 0;5 0 3 5 1 0 1 0 0;5 0 4 5 3 0 2 0 0",
     "0 1 0 0 0;1 2 1 2 0;2 3 0 0 0"},
    {"C/C=C\\C", "5 0 4 5 3 0 2 0 0;5 0 3 5 1 0 1 0 0;5 0 3 5 1 0 1 0 0;5 0 4 5 3 0 2 0 0",
     "0 1 0 0 0;1 2 1 1 0;2 3 0 0 0"},
    {"N[C@@H](C)O", "6 0 3 5 2 0 2 0 0;5 1 4 5 1 0 2 0 0;5 0 4 5 3 0 2 0 0;7 0 2 5 1 0 2 0 0",
     "0 1 0 0 0;1 2 0 0 0;1 3 0 0 0"},
    {"N[C@H](C)O", "6 0 3 5 2 0 2 0 0;5 2 4 5 1 0 2 0 0;5 0 4 5 3 0 2 0 0;7 0 2 5 1 0 2 0 0",
     "0 1 0 0 0;1 2 0 0 0;1 3 0 0 0"},
    {"Cl[C@H](/C=C/C)Br",
     "16 0 1 5 0 0 2 0 0;5 2 4 5 1 0 2 0 0;5 0 3 5 1 0 1 0 0;5 0 3 5 1 0 1 0 0;5 0 4 5 3 0 2 0 0;34 0 1 5 0 0 2 0 0",
     "0 1 0 0 0;1 2 0 0 0;2 3 1 2 0;3 4 0 0 0;1 5 0 0 0"},
    {"[H][H]", "0 0 1 5 0 0 5 0 0;0 0 1 5 0 0 5 0 0", "0 1 0 0 0"},
    {"[2H]", "0 0 0 5 0 1 5 0 0", ""},
    {"*C", "118 0 1 5 0 0 5 0 0;5 0 4 5 3 0 2 0 0", "0 1 0 0 0"},
    {"[Cu-3]", "28 0 0 2 0 0 5 0 0", ""},
    {"C[N+](=O)[O-]", "5 0 4 5 3 0 2 0 0;6 0 3 6 0 0 1 0 0;7 0 1 5 0 0 1 0 0;7 0 1 4 0 0 1 0 0",
     "0 1 0 0 0;1 2 1 0 1;1 3 0 0 1"},
};

TEST(OgbFeatures, MatchHandCheckedMolecules) {
  for (const HandChecked& known : kHandChecked) expect_features(known.smiles, known.atoms, known.bonds);
}

// The repository contains 300 molecules; the golden data folder contains all 1,500.
TEST(OgbFeatures, MatchGoldenTable) {
  std::string path = test::golden_file("MOLGRAPH_GOLDEN", "ogb_features.csv.gz");
  const bool whole = !path.empty();
  if (!whole) path = test::tests_dir("golden") + "/ogb_features.csv.gz";
  const auto rows = test::golden_rows(path);
  ASSERT_EQ(rows.size(), whole ? 1500u : 300u);
  for (const auto& row : rows) expect_features(row.at(0), row.at(1), row.size() > 2 ? row[2] : "");
}

}  // namespace
}  // namespace molgraph
