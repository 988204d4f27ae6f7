// Random draws, dropout factors and input noise, element by element in the order of docs/models/formula.md section 2.
#include <gtest/gtest.h>

#include "attention/reference/dropout.hpp"
#include "attention/spec/random.hpp"
#include "featurize/graph/philox.hpp"
#include "tests/attention/cases.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

constexpr std::uint64_t kSeed = 0xfedcba9876543210ULL;
constexpr std::uint32_t kStep = 77;
constexpr double kP = 0.1;

// Draw number `element`, computed directly from Philox.
std::uint16_t draw(std::uint32_t row, int layer, int site, std::int64_t element) {
  const std::uint32_t key[2] = {0x76543210u, 0xfedcba98u};
  const std::uint32_t counter[4] = {kStep, row, static_cast<std::uint32_t>(16 * layer + site),
                                    static_cast<std::uint32_t>(element / 8)};
  std::uint32_t words[4];
  philox4x32_10(words, counter, key);
  return static_cast<std::uint16_t>(words[element % 8 / 2] >> (element % 2 == 0 ? 0 : 16));
}

// round(65536 * 0.1) = 6554
double factor(std::uint16_t value) { return value < 6554 ? 0.0 : 1 / (1 - 6554 / 65536.0); }

struct Setting {
  GraphBatch batch = batch_of({Shape::rings, Shape::salt, Shape::chain, Shape::atom}, {5, 4'000'000'000, 0, 17});
  AttentionLayout layout = make_layout(batch, classes_of(batch));
  ForwardMode mode{.training = true, .seed = kSeed, .step = kStep, .keep_layers = {}};
  DropoutMasks masks{batch, layout, mode, torch::kFloat64};
};

TEST(RandomDraws, MatchPhiloxWords) {
  const RandomStream stream{kSeed, kStep, 9, 3, RandomSite::ffn_residual};
  for (const std::int64_t count : {1, 8, 127, 128, 129, 1000}) {
    std::vector<std::uint16_t> draws(static_cast<std::size_t>(count) + 1, 4711);
    random_draws(stream, count, draws.data());
    for (std::int64_t e = 0; e < count; ++e) ASSERT_EQ(draws[e], draw(9, 3, 2, e)) << count << " " << e;
    EXPECT_EQ(draws.back(), 4711);  // nothing is written past the end
  }
}

TEST(RandomDraws, ThresholdAndScale) {
  EXPECT_EQ(dropout_threshold(0), 0u);
  EXPECT_EQ(dropout_threshold(0.5), 32768u);
  EXPECT_EQ(dropout_threshold(kP), 6554u);
  EXPECT_DOUBLE_EQ(dropout_scale(32768), 2.0);
  EXPECT_DOUBLE_EQ(noise_from_draw(0.2, 0), 0.2 * (1 / 65536.0 - 1));
  EXPECT_DOUBLE_EQ(noise_from_draw(0.2, 65535), -noise_from_draw(0.2, 0));
}

TEST(Dropout, TokenFactorsEqualScalarDraws) {
  const Setting s;
  const int channels = 6, layer = 2;
  for (const auto& [site, number] : {std::pair{RandomSite::attention_residual, 1},
                                     {RandomSite::ffn_residual, 2},
                                     {RandomSite::ffn_activation, 3},
                                     {RandomSite::input_dropout, 4}}) {
    const Tensor packed = s.masks.tokens(layer, site, channels, kP).index_select(0, s.layout.to_packed);
    for (std::size_t b = 0; b < s.batch.row.size(); ++b)
      for (std::int64_t i = 0; i < s.batch.token_offset[b + 1] - s.batch.token_offset[b]; ++i)
        for (int c = 0; c < channels; ++c)
          ASSERT_DOUBLE_EQ(packed.const_data_ptr<double>()[(s.batch.token_offset[b] + i) * channels + c],
                           factor(draw(static_cast<std::uint32_t>(s.batch.row[b]), layer, number, i * channels + c)));
  }
}

TEST(Dropout, AttentionFactorsEqualScalarDraws) {
  const Setting s;
  const int heads = 3, layer = 1;
  const std::vector<Tensor> factors = s.masks.attention(layer, heads, kP);
  ASSERT_EQ(factors.size(), s.layout.groups.size());
  for (std::size_t g = 0; g < factors.size(); ++g) {
    const TokenGroup& group = s.layout.groups[g];
    for (std::size_t slot = 0; slot < group.molecules.size(); ++slot) {
      const auto b = static_cast<std::size_t>(group.molecules[slot]);
      const std::int64_t n = s.batch.token_offset[b + 1] - s.batch.token_offset[b];
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const auto molecules = static_cast<std::int64_t>(group.molecules.size());
            const auto at = ((h * molecules + static_cast<std::int64_t>(slot)) * group.size + i) * group.size + j;
            ASSERT_DOUBLE_EQ(factors[g].const_data_ptr<double>()[at],
                             factor(draw(static_cast<std::uint32_t>(s.batch.row[b]), layer, 0, (h * n + i) * n + j)));
          }
    }
  }
}

TEST(Dropout, HasNoFactorsWhenOff) {
  Setting s;
  EXPECT_FALSE(s.masks.tokens(0, RandomSite::ffn_residual, 4, 0.0).defined());
  EXPECT_TRUE(s.masks.attention(0, 2, 0.0).empty());
  s.mode.training = false;
  const DropoutMasks evaluation(s.batch, s.layout, s.mode, torch::kFloat32);
  EXPECT_FALSE(evaluation.tokens(0, RandomSite::ffn_residual, 4, 0.5).defined());
  EXPECT_TRUE(evaluation.attention(0, 2, 0.5).empty());
}

// 101 * 101 * 8 weights at a rate of 0.1: the observed rate has a standard deviation of 0.00105. The tolerance is 4.5
// times that.
TEST(Dropout, RateAndMeanAreCorrectAndDrawsDiffer) {
  const Setting s;
  const std::int64_t n = 101, heads = 8;
  const Tensor a = s.masks.attention(0, heads, kP).back();
  ASSERT_EQ(a.numel(), n * n * heads);
  EXPECT_NEAR((a == 0).to(torch::kFloat64).mean().item<double>(), kP, 4.5 * std::sqrt(kP * (1 - kP) / (n * n * heads)));
  EXPECT_NEAR(a.mean().item<double>(), 1.0, 4.5 * std::sqrt(kP / (1 - kP) / (n * n * heads)));
  EXPECT_FALSE(torch::equal(a, s.masks.attention(1, heads, kP).back()));
  EXPECT_TRUE(torch::equal(a, s.masks.attention(0, heads, kP).back()));
  ForwardMode next = s.mode;
  next.step += 1;
  EXPECT_FALSE(torch::equal(a, DropoutMasks(s.batch, s.layout, next, torch::kFloat64).attention(0, heads, kP).back()));
}

TEST(InputNoise, IsUniformAndFollowsItsDraws) {
  const Setting s;
  const Tensor noise = input_noise(s.batch, 7, 0.2, s.mode, torch::kFloat64);
  EXPECT_EQ(noise.sizes(), at::IntArrayRef({s.batch.num_tokens(), 7}));
  EXPECT_DOUBLE_EQ(noise[s.batch.token_offset[2] + 3][4].item<double>(),
                   noise_from_draw(0.2, draw(0, 0, 5, 3 * 7 + 4)));
  EXPECT_LT(noise.abs().max().item<double>(), 0.2);
  EXPECT_NEAR(noise.std().item<double>(), 0.2 / std::sqrt(3.0), 0.01);
}

}  // namespace
}  // namespace molgraph::test
