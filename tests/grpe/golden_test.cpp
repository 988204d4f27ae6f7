// GRPE with weights in the layout of its published code gives the numbers of that code.
#include "grpe/grpe.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/golden/golden_smiles.hpp"

namespace molgraph::test {
namespace {

void expect_case(const std::string& folder, const GoldenExpectations& expected,
                 const std::vector<MolecularGraph>& graphs) {
  const SafetensorsFile weights = read_safetensors(folder + "/weights.safetensors");
  const GoldenSizes sizes(weights.metadata);
  GrpeOptions options;
  options.features = sizes.features();
  options.encoder = sizes.encoder(options.encoder);
  options.encoder.key_term = KeyTerm::row;   // what the published code computes
  options.max_distance = sizes["max_distance"];
  options.published_classes = true;
  Grpe model(options);
  ASSERT_NO_FATAL_FAILURE(load_golden(model, weights));
  expect_golden(model, graphs, expected, read_safetensors(folder + "/gradients.safetensors"));
}

TEST(OgbGolden, GrpeSmall) {
  const std::string folder = MOLGRAPH_GOLDEN_DIR "/grpe_ogb_small";
  const GoldenExpectations expected = read_expectations(folder + "/expected.csv");
  ASSERT_EQ(expected.smiles.size(), 12u);
  expect_case(folder, expected, ogb_graphs(expected.smiles));
}

TEST(ZincGolden, GrpeSmall) {
  const std::string folder = golden_file("MOLGRAPH_GOLDEN", "grpe_zinc_small");
  const std::string graphs = golden_file("MOLGRAPH_DATA", "zinc12k/zinc12k_graphs.csv.gz");
  if (folder.empty() || graphs.empty()) GTEST_SKIP() << "MOLGRAPH_GOLDEN or MOLGRAPH_DATA is not set";
  if (!has_python()) GTEST_SKIP() << "python3 is not there to convert the weights";
  const GoldenExpectations expected = read_expectations(folder + "/expected.csv");
  const auto converted = convert_case(folder, "grpe_zinc_small");
  expect_case(converted.string(), expected, zinc_graphs(graphs, expected.smiles.size()));
  std::filesystem::remove_all(converted);
}

}  // namespace
}  // namespace molgraph::test
