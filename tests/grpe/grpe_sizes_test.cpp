// Numbers of parameters of the named sizes with this project's tables, as listed in the README.
#include "featurize/graph/error.hpp"
#include "grpe/architecture.hpp"
#include "tests/graphormer/model_checks.hpp"

namespace molgraph::test {
namespace {

std::int64_t parameters_of(const std::string& size, Features features, bool gate = false) {
  ModelOptions options = grpe_architecture().defaults;
  options.features = features;
  set_size(*options.architecture, size, options.encoder);
  options.encoder.gate.enabled = gate;
  const int layers = options.encoder.layers;
  const std::int64_t count = count_parameters(layers, [&](int layer_count) {
    options.encoder.layers = layer_count;
    return GraphModel(options);
  });
  std::cout << size << ' ' << to_string(features) << (gate ? " gate: " : ": ") << count << " parameters\n";
  return count;
}

TEST(GrpeSizes, ParameterCounts) {
  EXPECT_EQ(parameters_of("tiny", Features::zinc), 106'561);
  EXPECT_EQ(parameters_of("small", Features::zinc), 477'521);
  EXPECT_EQ(parameters_of("small", Features::zinc, true), 477'609);
  EXPECT_EQ(parameters_of("small", Features::ogb), 502'641);
  EXPECT_EQ(parameters_of("standard", Features::ogb), 42'868'993);
  EXPECT_EQ(parameters_of("large", Features::ogb), 113'843'201);
}

// The published tables of small have 25 atom rows and three times 8 distance and 14 edge rows. With 4609 atom rows,
// standard and large have 46.2 and 118.3 million parameters.
TEST(GrpeSizes, PublishedTablesExplainTheDifference) {
  constexpr int kWidth = 80;
  const std::int64_t own_rows = 28 + 3 * (11 + 8), published_rows = 25 + 3 * (8 + 14);
  EXPECT_EQ(parameters_of("small", Features::zinc) + (published_rows - own_rows) * kWidth, 478'001);
  EXPECT_NEAR(static_cast<double>(parameters_of("standard", Features::ogb) + (4609 - 174) * 768), 46.2e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(parameters_of("large", Features::ogb) + (4609 - 174) * 1024), 118.3e6, 0.1e6);
}

TEST(GrpeSizes, UnknownSizeIsAnErrorThatListsSizes) {
  EncoderOptions options;
  try {
    set_size(grpe_architecture(), "base", options);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("tiny, small, standard, large"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace molgraph::test
