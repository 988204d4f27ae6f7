// The `molgraph` feature set: column values, and their independence of how a molecule is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "featurize/smiles/smiles.hpp"
#include "tests/featurize/small_graphs.hpp"
#include "tests/golden/spellings.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

const FeatureShape& kShape = feature_shape(Features::molgraph);

MolecularGraph graph_of(const std::string& smiles) {
  const FeaturizeResult result = Featurizer({Features::molgraph}).smiles(smiles);
  if (const auto* rejection = std::get_if<Rejection>(&result)) ADD_FAILURE() << smiles << ": " << rejection->reason;
  return std::holds_alternative<MolecularGraph>(result) ? std::get<MolecularGraph>(result) : MolecularGraph{};
}

int atom_value(const MolecularGraph& graph, int atom, int column) {
  return graph.atoms.at(static_cast<std::size_t>(atom * kShape.atom_columns + column));
}

/// One letter per atom: - (no centre), R, S, r, s or ? (undefined).
std::string centres(const std::string& smiles) {
  const MolecularGraph graph = graph_of(smiles);
  std::string text;
  for (int a = 0; a < graph.num_atoms(); ++a) text += "-RSrs?"[atom_value(graph, a, 9)];
  return text;
}

/// One letter per bond: - (no stereo), E, Z or ? (undefined).
std::string bonds(const std::string& smiles) {
  const MolecularGraph graph = graph_of(smiles);
  std::string text;
  for (int b = 0; b < graph.num_bonds(); ++b)
    text += "-EZ?"[graph.bonds.at(static_cast<std::size_t>(b * kShape.bond_columns + 1))];
  return text;
}

/// Bonds as (atoms, columns), sorted.
std::vector<std::array<int, 6>> bond_set(const MolecularGraph& graph) {
  std::vector<std::array<int, 6>> all;
  for (std::size_t b = 0; b < static_cast<std::size_t>(graph.num_bonds()); ++b) {
    const std::uint8_t* c = graph.bonds.data() + 4 * b;
    const auto [low, high] = std::minmax(graph.bond_atoms[2 * b], graph.bond_atoms[2 * b + 1]);
    all.push_back({low, high, c[0], c[1], c[2], c[3]});
  }
  std::sort(all.begin(), all.end());
  return all;
}

void expect_same(const MolecularGraph& graph, const MolecularGraph& expected, const std::string& what) {
  EXPECT_EQ(graph.atoms, expected.atoms) << what;
  EXPECT_EQ(bond_set(graph), bond_set(expected)) << what;
}

TEST(MolgraphFeatures, ColumnsOfOneMolecule) {
  // number - 1, degree with H, H, charge + 5, radicals, hybridisation, aromatic, in ring, smallest ring, stereo
  const MolecularGraph graph = graph_of("C[C@H](F)c1ccc([O-])nc1");
  const auto row = [&](int atom) {
    std::vector<int> values;
    for (int c = 0; c < kShape.atom_columns; ++c) values.push_back(atom_value(graph, atom, c));
    return values;
  };
  EXPECT_EQ(row(0), (std::vector<int>{5, 4, 3, 5, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(row(1), (std::vector<int>{5, 4, 1, 5, 0, 2, 0, 0, 0, 2}));
  EXPECT_EQ(row(3), (std::vector<int>{5, 3, 0, 5, 0, 1, 1, 1, 4, 0}));
  EXPECT_EQ(row(7), (std::vector<int>{7, 1, 0, 4, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(row(8), (std::vector<int>{6, 2, 0, 5, 0, 1, 1, 1, 4, 0}));
  // type, stereo, conjugated, in ring
  EXPECT_EQ(std::vector<std::uint8_t>(graph.bonds.begin() + 12, graph.bonds.begin() + 16),
            (std::vector<std::uint8_t>{3, 0, 1, 1}));
}

TEST(MolgraphFeatures, SmallestRings) {
  const auto sizes = [](const std::string& smiles) {
    const MolecularGraph graph = graph_of(smiles);
    std::string text;
    for (int a = 0; a < graph.num_atoms(); ++a) text += static_cast<char>('0' + atom_value(graph, a, 8));
    return text;
  };
  EXPECT_EQ(sizes("CC1CC1"), "0111");
  EXPECT_EQ(sizes("C1CCCCCCC1"), "66666666") << "ring of eight";
  EXPECT_EQ(sizes("C1CCCCCCCC1"), "777777777") << "larger ring";
  EXPECT_EQ(sizes("c1ccc2c(c1)CC2"), "44422422") << "an atom in two rings has the size of the smaller one";
}

TEST(MolgraphFeatures, StereocentreLabels) {
  EXPECT_EQ(centres("C[C@H](N)C(=O)O"), "-S----") << "L-alanine";
  EXPECT_EQ(centres("C[C@@H](N)C(=O)O"), "-R----");
  EXPECT_EQ(centres("CC(N)C(=O)O"), "-?----") << "unspecified";
  EXPECT_EQ(centres("CC(C)C(=O)O"), "------") << "no stereocentre";
  EXPECT_EQ(centres("C[C@H](C)C(=O)O"), "------") << "a chirality mark without a stereocentre is ignored";
  EXPECT_EQ(centres("C[C@H]1CC[C@@H](O)CC1"), "-s--s---") << "trans";
  EXPECT_EQ(centres("C[C@H]1CC[C@H](O)CC1"), "-r--r---") << "cis";
  EXPECT_EQ(centres("CC1CCC(O)CC1"), "-?--?---");
  EXPECT_EQ(centres("CC1CCC(C)(C)CC1"), "---------") << "the only candidate in its ring";
  EXPECT_EQ(centres("C[S@](=O)c1ccccc1").substr(0, 2), "-S");
  EXPECT_EQ(centres("CS(=O)c1ccccc1").substr(0, 2), "-?");
  EXPECT_EQ(centres("CP(=O)(O)OCC").substr(0, 2), "--") << "=O and -OH are interchangeable";
  EXPECT_EQ(centres("C[N@](CC)CCC"), "-------") << "amines invert";
  EXPECT_EQ(centres("C1C[N@@]2C[C@H]1C(F)C2"), "--S-S?--") << "a cage prevents inversion";
  EXPECT_EQ(centres("C1CN2CC1C(F)C2"),
            "--?-?"
            "?--");
  EXPECT_EQ(centres("C1CCN2CCCC2C1"), "-------?-") << "fused rings do not prevent inversion";
}

TEST(MolgraphFeatures, DoubleBondLabels) {
  EXPECT_EQ(bonds("F/C=C/F"), "-E-");
  EXPECT_EQ(bonds("F/C=C\\F"), "-Z-");
  EXPECT_EQ(bonds("FC=CF"), "-?-");
  EXPECT_EQ(bonds("F/C=C/C=CF"), "-E-?-");
  EXPECT_EQ(bonds("FC=C(F)F"), "----");
  EXPECT_EQ(bonds("C1=C\\CCCC/1"), "------") << "a ring of six allows only one configuration";
  EXPECT_EQ(bonds("C/C=N/O"), "-E-");
  EXPECT_EQ(bonds("CC=NO"), "-?-");
  EXPECT_EQ(bonds("CC=C=CC"), "----") << "cumulated";
  EXPECT_EQ(bonds("CN=[N+]=[N-]"), "---");
  EXPECT_EQ(bonds("c1ccccc1"), "------");
}

TEST(MolgraphFeatures, IsotopesAffectOnlyCentresAndAtomMapsNothing) {
  EXPECT_EQ(graph_of("[13CH3]CO").atoms, graph_of("CCO").atoms);
  EXPECT_EQ(centres("[13CH3]C(C)O"), "-?--");
  EXPECT_EQ(centres("[13CH3][C@H](C)O"), "-S--");
  EXPECT_EQ(graph_of("[CH3:7][C@:2]([H:3])([NH2:1])C(=O)O").atoms, graph_of("C[C@]([H])(N)C(=O)O").atoms);
}

TEST(MolgraphFeatures, DummyAtomsAndPatternsBehaveAsForOgb) {
  EXPECT_EQ(atom_value(graph_of("*C"), 0, 0), 118);
  EXPECT_EQ(atom_value(graph_of("[2H]"), 0, 0), 0);
  for (const std::string text : {"[#6]C", "[C,N]C", "C~C", "[Uue]", "*", "[*]C", "c1ccccc1*"}) {
    const FeaturizeResult ogb = Featurizer({Features::ogb}).smiles(text),
                          own = Featurizer({Features::molgraph}).smiles(text);
    EXPECT_EQ(ogb.index(), own.index()) << text;
    if (const auto* rejection = std::get_if<Rejection>(&ogb)) {
      EXPECT_EQ(rejection->reason, std::get<Rejection>(own).reason);
    }
  }
}

TEST(MolgraphFeatures, SharedColumnsEqualOgbColumns) {
  const std::string path = test::tests_dir("golden") + "/ogb_features.csv.gz";
  for (const auto& golden : golden_rows(path)) {
    const MolecularGraph own = graph_of(golden.at(0)),
                         ogb = std::get<MolecularGraph>(Featurizer({Features::ogb}).smiles(golden[0]));
    ASSERT_EQ(own.bond_atoms, ogb.bond_atoms) << golden[0];
    constexpr std::pair<std::size_t, std::size_t> kAtoms[] = {{0, 0}, {1, 2}, {2, 4}, {3, 3},
                                                              {4, 5}, {5, 6}, {6, 7}, {7, 8}};
    for (std::size_t a = 0; a < static_cast<std::size_t>(own.num_atoms()); ++a)
      for (const auto& [column, ogb_column] : kAtoms)
        EXPECT_EQ(own.atoms[10 * a + column], ogb.atoms[9 * a + ogb_column]) << golden[0];
    for (std::size_t b = 0; b < static_cast<std::size_t>(own.num_bonds()); ++b) {
      EXPECT_EQ(own.bonds[4 * b], ogb.bonds[3 * b]) << golden[0];
      EXPECT_EQ(own.bonds[4 * b + 2], ogb.bonds[3 * b + 2]) << golden[0];
    }
  }
}

TEST(MolgraphFeatures, EverySpellingGivesTheSameGraph) {
  const std::vector<Spelling> all = spellings();
  ASSERT_GE(all.size(), 200u);
  MolecularGraph first;
  int labels = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const MolecularGraph graph = graph_of(all[k].smiles);
    if (k == 0 || all[k].molecule != all[k - 1].molecule) {
      first = graph;
      for (int a = 0; a < graph.num_atoms(); ++a) labels += atom_value(graph, a, 9) > 0;
    }
    expect_same(renumbered(graph, all[k].order), first, all[k].smiles);
  }
  EXPECT_GT(labels, 40);
}

TEST(MolgraphFeatures, SdfRecordAndSmilesGiveTheSameGraph) {
  const std::string block = R"(D-alanine
  by hand

  6  5  0  0  0  0  0  0  0  0999 V2000
   -1.2990    0.7500    0.0000 C   0  0
    0.0000    0.0000    0.0000 C   0  0
    0.0000   -1.5000    0.0000 N   0  0
    1.2990    0.7500    0.0000 C   0  0
    1.2990    2.2500    0.0000 O   0  0
    2.5981    0.0000    0.0000 O   0  0
  1  2  1  0
  2  3  1  1
  2  4  1  0
  4  5  2  0
  4  6  1  0
M  END
)";
  const auto graph = std::get<MolecularGraph>(Featurizer({Features::molgraph}).mol_block(block));
  const int label = atom_value(graph, 1, 9);
  EXPECT_TRUE(label == static_cast<int>(CentreLabel::R) || label == static_cast<int>(CentreLabel::S)) << label;
  expect_same(graph, graph_of(label == static_cast<int>(CentreLabel::R) ? "C[C@@H](N)C(=O)O" : "C[C@H](N)C(=O)O"),
              "alanine");
}

/// RDKit's labeller takes 20 s for the tree of 65 atoms and does not finish for the next larger tree.
TEST(MolgraphFeatures, SymmetricMoleculesAreFast) {
  std::string tree = "C";
  for (int depth = 0; depth < 6; ++depth) tree = "[C@H](" + tree + ")" + tree;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(centres("F[C@](Cl)(" + tree + ")" + tree).find_first_not_of('-'), std::string::npos);
  EXPECT_EQ(centres("[C@H]12[C@@H]3[C@H]4[C@@H]1[C@H]5[C@@H]2[C@H]3[C@@H]45").size(), 8u) << "cubane";
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
}

}  // namespace
}  // namespace molgraph::test
