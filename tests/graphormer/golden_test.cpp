// Graphormer with weights in the layout of its published code gives the numbers of that code.
#include "graphormer/graphormer.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/golden/golden_smiles.hpp"

namespace molgraph::test {
namespace {

const std::string kCases = MOLGRAPH_GOLDEN_DIR "/";

/// The published rules: one shortest path, one value for all pairs with token 0.
GraphormerOptions options_of(const GoldenSizes& sizes) {
  GraphormerOptions options;
  options.features = sizes.features();
  options.encoder = sizes.encoder(options.encoder);
  options.max_distance = sizes["max_distance"];
  options.max_degree = sizes["max_degree"];
  options.path_hops = sizes["path_hops"];
  options.spatial_pos_max = sizes["spatial_pos_max"];
  options.path_rule = PathRule::single;
  return options;
}

void expect_case(const std::string& folder, const GoldenExpectations& expected,
                 const std::vector<MolecularGraph>& graphs) {
  const SafetensorsFile weights = read_safetensors(folder + "/weights.safetensors");
  Graphormer model(options_of(GoldenSizes(weights.metadata)));
  ASSERT_NO_FATAL_FAILURE(load_golden(model, weights));
  expect_golden(model, graphs, expected, read_safetensors(folder + "/gradients.safetensors"));
}

class OgbGolden : public testing::TestWithParam<std::string> {};

TEST_P(OgbGolden, PredictionsEmbeddingsAndGradients) {
  const std::string folder = kCases + GetParam();
  const GoldenExpectations expected = read_expectations(folder + "/expected.csv");
  ASSERT_EQ(expected.smiles.size(), 12u);
  expect_case(folder, expected, ogb_graphs(expected.smiles));
}

// `small`: 5 hops, no mask. `capped`: 20 hops, atom pairs at distance 20 and more or without a path are masked.
INSTANTIATE_TEST_SUITE_P(Graphormer, OgbGolden, testing::Values("graphormer_ogb_small", "graphormer_ogb_capped"),
                         [](const auto& test) { return test.param; });

TEST(ZincGolden, GraphormerSlim) {
  const std::string folder = golden_file("MOLGRAPH_GOLDEN", "graphormer_zinc_slim");
  const std::string graphs = golden_file("MOLGRAPH_DATA", "zinc12k/zinc12k_graphs.csv.gz");
  if (folder.empty() || graphs.empty()) GTEST_SKIP() << "MOLGRAPH_GOLDEN or MOLGRAPH_DATA is not set";
  if (!has_python()) GTEST_SKIP() << "python3 is not there to convert the weights";
  const GoldenExpectations expected = read_expectations(folder + "/expected.csv");
  const auto converted = convert_case(folder, "graphormer_zinc_slim");
  expect_case(converted.string(), expected, zinc_graphs(graphs, expected.smiles.size()));
  std::filesystem::remove_all(converted);
}

}  // namespace
}  // namespace molgraph::test
