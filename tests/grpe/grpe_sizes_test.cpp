// Numbers of parameters of the named sizes: those of this project's tables, as the README lists them.
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
  const std::int64_t count = count_parameters(layers, [&](int few) {
    options.encoder.layers = few;
    return GraphModel(options);
  });
  std::cout << size << ' ' << to_string(features) << (gate ? " gate: " : ": ") << count << " parameters\n";
  return count;
}

TEST(GrpeSizes, Parameters) {
  EXPECT_EQ(parameters_of("tiny", Features::zinc), 106'561);
  EXPECT_EQ(parameters_of("small", Features::zinc), 477'521);
  EXPECT_EQ(parameters_of("small", Features::zinc, true), 477'609);
  EXPECT_EQ(parameters_of("small", Features::ogb), 502'641);
  EXPECT_EQ(parameters_of("standard", Features::ogb), 42'868'993);
  EXPECT_EQ(parameters_of("large", Features::ogb), 113'843'201);
}

// The published tables of small: 25 atom rows, three times 8 distance and 14 edge rows; with 4609 atom rows, 46.2 and
// 118.3 million parameters for standard and large.
TEST(GrpeSizes, PublishedTablesMakeTheDifference) {
  constexpr int kWidth = 80;
  const std::int64_t own_rows = 28 + 3 * (11 + 8), published_rows = 25 + 3 * (8 + 14);
  EXPECT_EQ(parameters_of("small", Features::zinc) + (published_rows - own_rows) * kWidth, 478'001);
  EXPECT_NEAR(static_cast<double>(parameters_of("standard", Features::ogb) + (4609 - 174) * 768), 46.2e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(parameters_of("large", Features::ogb) + (4609 - 174) * 1024), 118.3e6, 0.1e6);
}

TEST(GrpeSizes, UnknownNamesAreRefusedWithTheList) {
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
