// Graphormer with published weights reproduces the results of the published code.
#include "attention/reference/graph_model.hpp"
#include "graphormer/published.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/golden/golden_smiles.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

void expect_case(const GoldenCase& c, const std::vector<MolecularGraph>& graphs) {
  PublishedImport import;
  import.path_hops = c.info.at("multi_hop_max_dist");
  if (c.info.at("spatial_pos_max").is_number()) import.spatial_pos_max = c.info.at("spatial_pos_max");
  import.origin = c.info.at("kind");
  const PublishedCode& code = graphormer_published().front();
  const ModelOptions options = code.options(c.weights, import, c.folder);
  EXPECT_EQ(options.encoder.layers, c.info.at("layers").get<int>());
  EXPECT_EQ(options.encoder.width, c.info.at("hidden").get<int>());
  EXPECT_EQ(options.encoder.ffn, c.info.at("ffn").get<int>());
  EXPECT_EQ(options.encoder.heads, c.info.at("heads").get<int>());
  EXPECT_EQ(options.features, features_from_string(c.info.at("features").get<std::string>()));
  GraphModel model(options);
  expect_golden(model, code.links(options), c, graphs);
}

class GraphormerOgbGolden : public testing::TestWithParam<std::string> {};

TEST_P(GraphormerOgbGolden, ReproducesPublishedCode) {
  const GoldenCase c = read_case(tests_dir("golden") + "/" + GetParam());
  ASSERT_EQ(c.smiles.size(), 12u);
  expect_case(c, ogb_graphs(c.smiles));
}

// v1: `small` has 5 hops and no mask; `capped` has 20 hops and masks atom pairs at distance 20 or more and pairs
// without a path. v2: `small` is post-LN; `preln` has query, key and value in one matrix. hf: two outputs.
INSTANTIATE_TEST_SUITE_P(Graphormer, GraphormerOgbGolden,
                         testing::Values("graphormer_ogb_small", "graphormer_ogb_capped", "graphormer_v2_small",
                                         "graphormer_v2_preln", "graphormer_hf_small"),
                         [](const auto& test) { return test.param; });

TEST(GraphormerZincGolden, SlimReproducesPublishedCode) {
  const std::string folder = golden_file("MOLGRAPH_GOLDEN", "graphormer_zinc_slim");
  const std::string graphs = golden_file("MOLGRAPH_DATA", "zinc12k/zinc12k_graphs.csv.gz");
  if (folder.empty() || graphs.empty()) GTEST_SKIP() << "MOLGRAPH_GOLDEN or MOLGRAPH_DATA is not set";
  const GoldenCase c = read_case(folder);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : c.weights) parameters += tensor.numel();
  EXPECT_EQ(parameters, 489'481);  // the paper's slim model
  expect_case(c, zinc_graphs(graphs, c.smiles.size()));
}

}  // namespace
}  // namespace molgraph::test
