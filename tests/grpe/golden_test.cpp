// GRPE with published weights reproduces the results of the published code.
#include "attention/reference/graph_model.hpp"
#include "grpe/published.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/golden/golden_smiles.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

void expect_case(const GoldenCase& c, const std::vector<MolecularGraph>& graphs) {
  const PublishedCode& code = grpe_published().front();
  const ModelOptions options =
      code.options(c.weights, {.origin = code.origin, .features = {}, .heads = c.info.at("heads")}, c.folder);
  EXPECT_EQ(options.encoder.layers, c.info.at("layers").get<int>());
  EXPECT_EQ(options.encoder.ffn, c.info.at("ffn").get<int>());
  EXPECT_EQ(options.max_distance, c.info.at("max_hop").get<int>());
  EXPECT_EQ(options.features, features_from_string(c.info.at("features").get<std::string>()));
  GraphModel model(options);
  expect_golden(model, code.links(options), c, graphs);
}

TEST(GrpeOgbGolden, SmallReproducesPublishedCode) {
  const GoldenCase c = read_case(tests_dir("golden") + "/grpe_ogb_small");
  ASSERT_EQ(c.smiles.size(), 12u);
  expect_case(c, ogb_graphs(c.smiles));
}

TEST(GrpeZincGolden, SmallReproducesPublishedCode) {
  const std::string folder = golden_file("MOLGRAPH_GOLDEN", "grpe_zinc_small");
  const std::string graphs = golden_file("MOLGRAPH_DATA", "zinc12k/zinc12k_graphs.csv.gz");
  if (folder.empty() || graphs.empty()) GTEST_SKIP() << "MOLGRAPH_GOLDEN or MOLGRAPH_DATA is not set";
  const GoldenCase c = read_case(folder);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : c.weights) parameters += tensor.numel();
  EXPECT_EQ(parameters, 478'001);  // the paper's small model
  expect_case(c, zinc_graphs(graphs, c.smiles.size()));
}

}  // namespace
}  // namespace molgraph::test
