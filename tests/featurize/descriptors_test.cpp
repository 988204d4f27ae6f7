#include "featurize/descriptors/descriptors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "featurize/descriptors/calculator.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"
#include "tests/featurize/golden_table.hpp"
#include "tests/golden/spellings.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

/// The table has seven digits. The values are floats, and sums run in a different order from RDKit's.
constexpr double kRelative = 1e-5;
/// For sums that cancel: E-state bins, charges of symmetric molecules.
constexpr double kAbsolute = 1e-6;

/// RDKit's values for 2,000 molecules (tests/golden/make_descriptors.py).
struct Golden {
  std::vector<std::string> smiles, crc;
  std::map<std::string, std::vector<std::string>, std::less<>> columns;
};

const Golden& golden() {
  static const Golden table = [] {
    Golden read;
    for (auto& row : test::golden_rows(test::tests_dir("golden") + "/descriptors.csv.gz")) {
      const std::string name = row.front();
      row.erase(row.begin());
      (name == "smiles" ? read.smiles : name == "crc32" ? read.crc : read.columns[name]) = std::move(row);
    }
    return read;
  }();
  return table;
}

MolecularGraph graph_of(const Featurizer& featurizer, const std::string& smiles) {
  FeaturizeResult result = featurizer.smiles(smiles);
  if (auto* graph = std::get_if<MolecularGraph>(&result)) return std::move(*graph);
  ADD_FAILURE() << smiles << ": " << std::get<Rejection>(result).reason;
  return {};
}

bool near(double value, double expected) {
  if (std::isnan(value) || std::isnan(expected)) return std::isnan(value) && std::isnan(expected);
  return std::abs(value - expected) <= kRelative * std::abs(expected) + kAbsolute;
}

/// Equal values; two NaNs are equal.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(Descriptors, MatchPythonRdkit) {
  ASSERT_EQ(golden().smiles.size(), 2000u);
  ASSERT_EQ(golden().columns.size(), descriptor_names().size());
  FeaturizerOptions options;
  options.descriptors = DescriptorSet::rdkit;
  const Featurizer featurizer(options);
  std::map<std::string, int> wrong;
  for (std::size_t k = 0; k < golden().smiles.size(); ++k) {
    const MolecularGraph graph = graph_of(featurizer, golden().smiles[k]);
    ASSERT_EQ(graph.descriptors.size(), descriptor_names().size());
    EXPECT_TRUE(graph.fingerprint.empty());
    for (std::size_t d = 0; d < graph.descriptors.size(); ++d) {
      const auto column = golden().columns.find(descriptor_names()[d]);
      ASSERT_NE(column, golden().columns.end()) << descriptor_names()[d];
      const double expected = std::stod(column->second.at(k));
      if (near(graph.descriptors[d], expected)) continue;
      if (++wrong[column->first] <= 3)
        ADD_FAILURE() << column->first << " of " << golden().smiles[k] << ": " << graph.descriptors[d] << ", RDKit "
                      << expected;
    }
  }
  for (const auto& [name, count] : wrong) ADD_FAILURE() << name << ": " << count << " molecules differ";
}

TEST(Descriptors, FingerprintMatchesPythonRdkit) {
  const Featurizer featurizer({}, {}, {.descriptors = false, .fingerprint = true});
  for (std::size_t k = 0; k < golden().smiles.size(); ++k) {
    const MolecularGraph graph = graph_of(featurizer, golden().smiles[k]);
    ASSERT_EQ(graph.fingerprint.size(), kFingerprintBins);
    EXPECT_TRUE(graph.descriptors.empty());
    const auto crc = crc32(0, graph.fingerprint.data(), static_cast<uInt>(graph.fingerprint.size()));
    EXPECT_EQ(std::to_string(crc), golden().crc.at(k)) << golden().smiles[k];
  }
}

TEST(Descriptors, DistancesThatDoNotFitAreMissing) {
  const Featurizer featurizer({Features::molgraph}, {.max_atoms = 2000}, {.descriptors = true});
  for (const auto& [atoms, fits] : {std::pair{1300, true}, std::pair{1400, false}}) {
    const MolecularGraph graph = graph_of(featurizer, std::string(static_cast<std::size_t>(atoms), 'C'));
    for (const char* name : {"BalabanJ", "BertzCT"}) {
      const auto& names = descriptor_names();
      const auto at = std::find(names.begin(), names.end(), name) - names.begin();
      EXPECT_EQ(std::isnan(graph.descriptors.at(static_cast<std::size_t>(at))), !fits) << name << ' ' << atoms;
    }
  }
}

TEST(Descriptors, DoNotDependOnFeatureSet) {
  constexpr FeaturizerExtras both{.descriptors = true, .fingerprint = true};
  const Featurizer ogb({Features::ogb}, {}, both), own({Features::molgraph}, {}, both),
      zinc({Features::zinc}, {}, both);
  const Featurizer plain({Features::molgraph});
  int of_zinc = 0;
  for (const std::string& smiles : golden().smiles) {
    const MolecularGraph graph = graph_of(ogb, smiles), other = graph_of(own, smiles), bare = graph_of(plain, smiles);
    EXPECT_TRUE(same(graph.descriptors, other.descriptors)) << smiles;
    EXPECT_EQ(graph.fingerprint, other.fingerprint) << smiles;
    EXPECT_TRUE(other.atoms == bare.atoms && other.bonds == bare.bonds) << smiles;
    const FeaturizeResult result = zinc.smiles(smiles);
    if (const auto* third = std::get_if<MolecularGraph>(&result)) {
      EXPECT_TRUE(same(graph.descriptors, third->descriptors)) << smiles;
      EXPECT_EQ(graph.fingerprint, third->fingerprint) << smiles;
      ++of_zinc;
    }
  }
  EXPECT_GT(of_zinc, 300);  // the zinc feature set supports few atom types
}

TEST(Descriptors, DoNotDependOnSmilesSpelling) {
  const Featurizer featurizer({Features::molgraph}, {}, {.descriptors = true, .fingerprint = true});
  MolecularGraph first;
  int molecule = -1;
  for (const test::Spelling& spelling : test::spellings()) {
    const MolecularGraph graph = graph_of(featurizer, spelling.smiles);
    if (spelling.molecule != molecule) first = graph;
    molecule = spelling.molecule;
    EXPECT_EQ(graph.fingerprint, first.fingerprint) << spelling.smiles;
    for (std::size_t d = 0; d < graph.descriptors.size(); ++d) {
      EXPECT_TRUE(near(graph.descriptors[d], first.descriptors[d]))
          << descriptor_names()[d] << " of " << spelling.smiles << ": " << graph.descriptors[d] << ", first spelling "
          << first.descriptors[d];
    }
  }
}

TEST(Descriptors, DoNotDependOnThreads) {
  constexpr std::size_t stride = 7;
  const Featurizer featurizer({}, {}, {.descriptors = true, .fingerprint = true});
  std::vector<MolecularGraph> expected;
  for (std::size_t k = 0; k < golden().smiles.size(); k += stride)
    expected.push_back(graph_of(featurizer, golden().smiles[k]));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::size_t k =
            (i + static_cast<std::size_t>(t) * 61) % expected.size();  // each thread uses a different order
        const FeaturizeResult result = featurizer.smiles(golden().smiles[k * stride]);
        const auto* graph = std::get_if<MolecularGraph>(&result);
        wrong += graph == nullptr || !same(graph->descriptors, expected[k].descriptors) ||
                 graph->fingerprint != expected[k].fingerprint;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Descriptors, AreComputedForParentStructure) {
  FeaturizerOptions options{Features::molgraph, DescriptorSet::rdkit, Standardize::parent};
  const MolecularGraph salt = graph_of(Featurizer(options), "CC(=O)[O-].[Na+]");
  options.standardize = Standardize::none;
  const MolecularGraph acid = graph_of(Featurizer(options), "CC(=O)O");
  EXPECT_TRUE(same(salt.descriptors, acid.descriptors));
  // RDKit folds this hydrogen in only after it has removed the stereo marks.
  options.standardize = Standardize::parent;
  const MolecularGraph marked = graph_of(Featurizer(options), "[H]/N=C(/C)C.Cl");
  options = {Features::ogb, DescriptorSet::rdkit};
  EXPECT_TRUE(same(marked.descriptors, graph_of(Featurizer(options), "[H]/N=C(/C)C").descriptors));
}

TEST(Descriptors, MolBlockAndSmilesAgree) {
  const std::string block =
      "\n\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n"
      "    0.0000    0.0000    0.0000 C   0  0\n    1.5000    0.0000    0.0000 C   0  0\n"
      "    2.2500    1.3000    0.0000 O   0  0\n  1  2  1  0\n  2  3  1  0\nM  END\n";
  const Featurizer featurizer({}, {}, {.descriptors = true, .fingerprint = true});
  const auto graph = std::get<MolecularGraph>(featurizer.mol_block(block));
  const MolecularGraph expected = graph_of(featurizer, "CCO");
  EXPECT_TRUE(same(graph.descriptors, expected.descriptors));
  EXPECT_EQ(graph.fingerprint, expected.fingerprint);
}

/// Reads modified copies of RDKit's list of fragments.
class FragmentFile : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in(rdkit_data_dir() + "/Data/FragmentDescriptors.csv");
    text_.assign(std::istreambuf_iterator<char>(in), {});
    ASSERT_FALSE(text_.empty());
  }
  std::string failure_of(const std::string& text) {
    const auto path =
        std::filesystem::temp_directory_path() / ("molgraph_fragments_" + std::to_string(::getpid()) + ".csv");
    std::ofstream(path) << text;
    try {
      const DescriptorCalculator calculator(path);
    } catch (const FileError& error) {
      std::filesystem::remove(path);
      return error.what();
    }
    std::filesystem::remove(path);
    return {};
  }
  std::string text_;
};

TEST_F(FragmentFile, InvalidEntriesAreErrors) {
  EXPECT_EQ(failure_of(text_), "");
  EXPECT_THROW(DescriptorCalculator("/nowhere/FragmentDescriptors.csv"), FileError);
  std::string text = text_;
  text.replace(text.find("fr_epoxide"), 10, "fr_another");
  EXPECT_NE(failure_of(text).find("does not contain the fragment fr_epoxide"), std::string::npos) << failure_of(text);
  text = text_;
  text.replace(text.find("O1CC1"), 5, "O1CC(");
  EXPECT_NE(failure_of(text).find("fr_epoxide' is not valid SMARTS: 'O1CC('"), std::string::npos) << failure_of(text);
  text = text_;
  text.replace(text.find("O1CC1"), 5, "[r3]1");
  EXPECT_NE(failure_of(text), "");
  text = text_;
  text.replace(text.find("O1CC1"), 5, "[^2]=");
  EXPECT_NE(failure_of(text), "");
  text = text_;
  text.replace(text.find("O1CC1"), 5, "[r3]C");
  EXPECT_NE(failure_of(text).find("AtomMinRingSize, which this version does not support"), std::string::npos)
      << failure_of(text);
}

}  // namespace
}  // namespace molgraph
