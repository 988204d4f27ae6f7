#include "featurize/smiles/chemistry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "featurize/graph/error.hpp"
#include "tests/featurize/golden_table.hpp"

namespace molgraph {
namespace {

TEST(Chemistry, CanonicalSmiles) {
  EXPECT_EQ(canonical_smiles("OCC"), "CCO");
  EXPECT_EQ(canonical_smiles("C(O)C"), canonical_smiles("CCO"));
  EXPECT_EQ(canonical_smiles("C1CC"), "");
}

TEST(Chemistry, MurckoScaffolds) {
  EXPECT_EQ(murcko_scaffold("CC(=O)c1ccc(C[C@H]2CCCN2)cc1"), "c1ccc(CC2CCCN2)cc1")
      << "without side chains and chirality";
  EXPECT_EQ(murcko_scaffold("CCCCO"), "") << "acyclic";
  EXPECT_EQ(murcko_scaffold("O=C1CCCCC1"), "O=C1CCCCC1") << "exocyclic double bond is kept";
  EXPECT_EQ(murcko_scaffold("Cc1ccccc1"), "c1ccccc1");
  EXPECT_THROW(murcko_scaffold("C1CC"), DataError);
}

/// OGB's scaffold split: groups in descending order of (size, first index) fill the sets up to 80 % and 90 %.
std::vector<std::string> scaffold_split(const std::vector<std::string>& smiles) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t row = 0; row < smiles.size(); ++row) groups[murcko_scaffold(smiles[row])].push_back(row);
  std::vector<std::vector<std::size_t>> order;
  for (auto& [scaffold, rows] : groups) order.push_back(std::move(rows));
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), a.front()) > std::pair(b.size(), b.front());
  });
  const double train = 0.8 * static_cast<double>(smiles.size()), valid = 0.9 * static_cast<double>(smiles.size());
  std::vector<std::string> part(smiles.size());
  std::size_t in_train = 0, in_valid = 0;
  for (const auto& rows : order) {
    const char* name = "test";
    if (static_cast<double>(in_train + rows.size()) <= train) {
      name = "train";
      in_train += rows.size();
    } else if (static_cast<double>(in_train + in_valid + rows.size()) <= valid) {
      name = "valid";
      in_valid += rows.size();
    }
    for (const std::size_t row : rows) part[row] = name;
  }
  return part;
}

TEST(Chemistry, ScaffoldsReproducePublishedSplits) {
  // The last column of these tables is the split. The SMILES contain no commas.
  const std::pair<const char*, std::size_t> sets[] = {{"moleculenet/esol.csv", 1128},
                                                      {"moleculenet/freesolv.csv", 642}};
  for (const auto& [name, rows_expected] : sets) {
    const std::string path = test::golden_file("MOLGRAPH_DATA", name);
    if (path.empty()) GTEST_SKIP() << "MOLGRAPH_DATA with " << name << " is not set";
    std::vector<std::string> smiles, expected;
    for (const auto& row : test::golden_rows(path)) {
      smiles.push_back(row.front());
      expected.push_back(row.back());
    }
    ASSERT_EQ(smiles.size(), rows_expected) << name;
    EXPECT_EQ(scaffold_split(smiles), expected) << name;
  }
}

TEST(Chemistry, ScaffoldsReproduceOgbSplitOfMolHiv) {
  const std::string path = test::golden_file("MOLGRAPH_DATA", "molhiv/molhiv.csv.gz");
  if (path.empty()) GTEST_SKIP() << "MOLGRAPH_DATA with molhiv/molhiv.csv.gz is not set";
  std::vector<std::string> smiles, expected;
  for (const auto& row : test::golden_rows(path)) {
    smiles.push_back(row.at(1));
    expected.push_back(row.at(3));
  }
  ASSERT_EQ(smiles.size(), 41127u);
  EXPECT_EQ(scaffold_split(smiles), expected);
}

TEST(Chemistry, DataDirectoryContainsDataAndFragmentScores) {
  const std::string directory = rdkit_data_dir();
  EXPECT_TRUE(std::filesystem::exists(directory + "/Contrib/SA_Score/fpscores.pkl.gz")) << directory;
  EXPECT_TRUE(std::filesystem::exists(directory + "/Data")) << directory;
}

TEST(Chemistry, DataOfAnotherVersionAreNotUsed) {
  const std::string directory = rdkit_data_dir();
  std::string other = (std::filesystem::temp_directory_path() / "molgraph-test-XXXXXX").string();
  ASSERT_NE(::mkdtemp(other.data()), nullptr);
  std::filesystem::create_directory(other + "/Data");
  ASSERT_EQ(::setenv("RDBASE", other.c_str(), 1), 0);
  EXPECT_EQ(rdkit_data_dir(), directory);
  ::unsetenv("RDBASE");
  std::filesystem::remove_all(other);
}

}  // namespace
}  // namespace molgraph
