// Predictions do not depend on the SMILES spelling or the numbering of the atoms.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "featurize/smiles/smiles.hpp"
#include "tests/featurize/golden_table.hpp"
#include "tests/golden/spellings.hpp"
#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

MolecularGraph graph_of_smiles(const std::string& smiles) {
  return std::get<MolecularGraph>(Featurizer({.features = Features::ogb}).smiles(smiles));
}

// Without chiral tags, which depend on the spelling.
const std::vector<std::vector<std::string>> kSpellings{
    {"CCO", "OCC", "C(C)O"},
    {"CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1OC(C)=O", "c1cccc(C(O)=O)c1OC(=O)C"},
    {"Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CN1C(=O)N(C)c2ncn(C)c2C1=O", "O=c1n(C)c(=O)c2c(ncn2C)n1C"},
    {"CC(C)Cc1ccc(cc1)C(C)C(=O)O", "OC(=O)C(C)c1ccc(CC(C)C)cc1"},
    {"[NH4+].[Cl-]", "[Cl-].[NH4+]"},
    {"CC(=O)[O-].[Na+]", "[Na+].[O-]C(C)=O"},
    {"c1ccc2ccccc2c1", "c1ccc2c(c1)cccc2"},
    {"O=[N+]([O-])c1ccc(F)cc1", "c1cc(F)ccc1[N+]([O-])=O"},
    {"C1CC1C2CCCCC2", "C1CCCCC1C1CC1"}};

class EveryModelOnSmiles : public testing::TestWithParam<ModelCase> {
 protected:
  EveryModelOnSmiles() : model(make_model(GetParam())) { randomise(*model); }
  bool eigenvectors() const { return GetParam().encoding->position == NodePosition::laplacian; }

  std::unique_ptr<GraphModel> model;
};

TEST_P(EveryModelOnSmiles, PredictionsDoNotDependOnSpelling) {
  if (eigenvectors()) GTEST_SKIP() << "for equivalent atoms, the eigenvector basis depends on the numbering";
  for (const auto& spellings_of_one : kSpellings) {
    const torch::Tensor expected = predict(*model, {graph_of_smiles(spellings_of_one[0])});
    for (const std::string& smiles : spellings_of_one)
      EXPECT_LT(largest(predict(*model, {graph_of_smiles(smiles)}) - expected) / std::max(1.0, largest(expected)),
                1e-12)
          << smiles;
  }
}

TEST_P(EveryModelOnSmiles, RealMoleculesAreInvariantUnderRenumbering) {
  const std::string path = golden_file("MOLGRAPH_GOLDEN", "ogb_features.csv.gz");
  std::mt19937 random(17);
  int differing = 0, molecules = 0;
  for (const auto& row : golden_rows(path.empty() ? tests_dir("golden") + "/ogb_features.csv.gz" : path)) {
    if (++molecules > 40) break;
    const MolecularGraph graph = graph_of_smiles(row.at(0));
    std::vector<int> order(static_cast<std::size_t>(graph.num_atoms()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const torch::Tensor expected = predict(*model, {graph});
    const double difference =
        largest(predict(*model, {renumbered(graph, order)}) - expected) / std::max(1.0, largest(expected));
    if (eigenvectors())
      differing += difference > 1e-9 ? 1 : 0;  // the solver's error divided by gaps between eigenvalues
    else EXPECT_LT(difference, 1e-12) << row.at(0);
  }
  // Few molecules have a symmetry that leads to equal eigenvalues.
  EXPECT_LE(differing, 8);
}

TEST_P(EveryModelOnSmiles, SpellingsOfEveryKindOfStereochemistryAgree) {
  const auto own = make_model(
      GetParam(), [](EncoderOptions&) {}, Features::molgraph);
  randomise(*own);
  const Featurizer featurizer({.features = Features::molgraph});
  torch::Tensor expected;
  std::string first;
  int compared = 0, distinguished = 0;
  int molecule = -1;
  std::set<int> differing;
  for (const Spelling& spelling : spellings()) {
    const torch::Tensor actual = predict(*own, {std::get<MolecularGraph>(featurizer.smiles(spelling.smiles))});
    if (std::exchange(molecule, spelling.molecule) != spelling.molecule) {
      if (expected.defined()) distinguished += largest(actual - expected) > 1e-6;
      expected = actual;
      first = spelling.smiles;
      continue;
    }
    ++compared;
    const double difference = largest(actual - expected) / std::max(1.0, largest(expected));
    if (eigenvectors()) differing.insert(difference > 1e-6 ? molecule : -1);
    else EXPECT_LT(difference, 1e-6) << spelling.smiles << " and " << first;
  }
  // Only molecules whose symmetry leads to equal eigenvalues differ; -1 represents all that agree.
  EXPECT_LE(differing.size(), 6u);
  EXPECT_GT(compared, 200);
  EXPECT_GT(distinguished, 20) << "different molecules have different predictions";
}

TEST_P(EveryModelOnSmiles, MirrorImagesHaveDifferentPredictions) {
  const auto own = make_model(
      GetParam(), [](EncoderOptions&) {}, Features::molgraph);
  randomise(*own);
  const Featurizer featurizer({.features = Features::molgraph});
  const auto of = [&](const char* smiles) {
    return predict(*own, {std::get<MolecularGraph>(featurizer.smiles(smiles))});
  };
  EXPECT_GT(largest(of("C[C@H](N)C(=O)O") - of("C[C@@H](N)C(=O)O")), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModelOnSmiles, testing::ValuesIn([] {
                           std::vector<ModelCase> chosen;
                           for (const ModelCase& c : every_model())
                             if (c.name.ends_with("_urpe") || c.name.ends_with("_relu")) chosen.push_back(c);
                           return chosen;
                         }()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace molgraph::test
