// Numbers of parameters of the named sizes with this project's tables, as listed in the README.
#include "featurize/graph/error.hpp"
#include "graphormer/architecture.hpp"
#include "tests/graphormer/model_checks.hpp"

namespace molgraph::test {
namespace {

std::int64_t parameters_of(const std::string& size, Features features, bool gate = false) {
  ModelOptions options = graphormer_architecture().defaults;
  options.features = features;
  set_size(*options.architecture, size, options.encoder);
  options.encoder.gate.enabled = gate;
  options.path_hops = features == Features::zinc ? 20 : 5;
  const int layers = options.encoder.layers;
  const std::int64_t count = count_parameters(layers, [&](int layer_count) {
    options.encoder.layers = layer_count;
    return GraphModel(options);
  });
  std::cout << size << ' ' << to_string(features) << (gate ? " gate: " : ": ") << count << " parameters\n";
  return count;
}

TEST(GraphormerSizes, ParameterCounts) {
  EXPECT_EQ(parameters_of("slim", Features::zinc), 484'705);
  EXPECT_EQ(parameters_of("slim", Features::zinc, true), 484'913);
  EXPECT_EQ(parameters_of("slim", Features::ogb), 495'497);
  EXPECT_EQ(parameters_of("small", Features::ogb), 9'630'881);
  EXPECT_EQ(parameters_of("base", Features::ogb), 42'800'801);
  EXPECT_EQ(parameters_of("large", Features::ogb), 113'750'177);
}

/// Numbers of rows of all tables. Each hop has H x H numbers.
struct Tables {
  int atoms, bonds, distances, degrees, hops;
  std::int64_t parameters(std::int64_t width, std::int64_t heads) const {
    return (atoms + 2 * degrees) * width + (bonds + distances) * heads + hops * heads * heads;
  }
};

constexpr Tables kOwnZinc{28, 4, 24, 64, 20}, kPublishedZinc{64, 64, 40 + 1, 64, 40};
constexpr Tables kOwnOgb{174, 13, 24, 64, 5}, kPublishedOgb{4609, 1537, 512 + 1, 512, 128};

// The published counts belong to the published tables: 489,481 for slim, 12.5 and 47 million for small and base.
TEST(GraphormerSizes, PublishedTablesExplainTheDifference) {
  const std::int64_t slim = parameters_of("slim", Features::zinc);
  EXPECT_EQ(slim - kOwnZinc.parameters(80, 8) + kPublishedZinc.parameters(80, 8), 489'481);
  const auto ogb_millions = [](const std::string& size, int width) {
    const std::int64_t own = parameters_of(size, Features::ogb);
    return 1e-6 * static_cast<double>(own - kOwnOgb.parameters(width, 32) + kPublishedOgb.parameters(width, 32));
  };
  EXPECT_NEAR(ogb_millions("small", 512), 12.5, 0.1);
  EXPECT_NEAR(ogb_millions("base", 768), 47, 0.5);
}

TEST(GraphormerSizes, UnknownSizeIsAnErrorThatListsSizes) {
  EncoderOptions options;
  try {
    set_size(graphormer_architecture(), "medium", options);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("slim, small, base, large"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace molgraph::test
