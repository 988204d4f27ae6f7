// The reference compared with the formula and with finite differences, in float32 and in other batches.
#include <gtest/gtest.h>

#include "tests/attention/runs.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

constexpr double kExact = 1e-12;  // float64 sums of at most a few hundred terms of order one
constexpr double kSingle = 2e-5;  // float32: 100-term sums of values up to about ten
// central differences, step 1e-5: h^2 = 1e-10 plus 1e-16/h = 1e-11, times values up to 100
constexpr double kDifference = 1e-7;

double largest_difference(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

class EveryCase : public testing::TestWithParam<AttentionCase> {};

TEST_P(EveryCase, MatchesTheFormula) {
  const AttentionInputs in = make_inputs(GetParam());
  EXPECT_LT(largest_difference(run_reference(GetParam(), in), run_formula(GetParam(), in)), kExact);
}

TEST_P(EveryCase, GradientsEqualFiniteDifferences) {
  const AttentionInputs in = make_inputs(GetParam());
  torch::manual_seed(7);
  // a loss that depends on every output
  const Tensor weight = torch::randn({in.batch.num_tokens(), kWidth}, torch::kFloat64);
  const auto loss = [&] { return (run_reference(GetParam(), in) * weight).sum(); };
  loss().backward();
  torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-5;
  const std::int64_t samples = in.batch.num_tokens() > 50 ? 6 : 24;
  for (const auto& [name, leaf] : in.leaves) {
    ASSERT_TRUE(leaf.grad().defined()) << name;
    ASSERT_TRUE(leaf.grad().isfinite().all().item<bool>()) << name;
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t at = s * 7919 % leaf.numel();
      double& value = leaf.data_ptr<double>()[at];
      const double before = value;
      value = before + kStep;
      const double above = loss().item<double>();
      value = before - kStep;
      const double below = loss().item<double>();
      value = before;
      const double expected = (above - below) / (2 * kStep), got = leaf.grad().view(-1)[at].item<double>();
      EXPECT_NEAR(got, expected, kDifference * std::max(1.0, std::abs(expected))) << name << " element " << at;
    }
  }
}

TEST_P(EveryCase, Float32StaysCloseToFloat64) {
  const Tensor exact = run_reference(GetParam(), make_inputs(GetParam()));
  const Tensor single = run_reference(GetParam(), make_inputs(GetParam(), torch::kFloat32));
  EXPECT_EQ(single.scalar_type(), torch::kFloat32);
  EXPECT_LT(largest_difference(single.to(torch::kFloat64), exact),
            kSingle * std::max(1.0, exact.abs().max().item<double>()));
}

INSTANTIATE_TEST_SUITE_P(Attention, EveryCase, testing::ValuesIn(attention_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Attention, RowWithoutAllowedKeyIsZeroAndHasNoGradient) {
  const AttentionCase c{
      .name = "row", .terms = kAllTerms, .gate = {.enabled = true}, .forbidden = Forbidden::whole_row};
  const AttentionInputs in = make_inputs(c);
  const Tensor z = run_reference(c, in);
  const std::int64_t row = in.batch.token_offset[in.batch.size() - 1] + kForbiddenRow;
  EXPECT_EQ(z[row].abs().max().item<double>(), 0.0);
  EXPECT_TRUE(z.isfinite().all().item<bool>());
  z[row].sum().backward();  // only this row: no input may receive a gradient from it
  for (const auto& [name, leaf] : in.leaves) EXPECT_EQ(leaf.grad().abs().max().item<double>(), 0.0) << name;
}

TEST(Attention, ResultsDoNotDependOnTheBatch) {
  AttentionCase c{.name = "batch", .terms = kAllTerms, .gate = {.enabled = true}, .dropout = true};
  const AttentionInputs all = make_inputs(c);
  const Tensor together = run_reference(c, all);
  for (std::size_t b = 0; b < c.shapes.size(); ++b) {
    AttentionCase alone = c;
    alone.shapes = {c.shapes[b]};
    AttentionInputs one = make_inputs(alone);
    one.batch.row = {all.batch.row[b]};
    const std::int64_t first = all.batch.token_offset[b], tokens = all.batch.token_offset[b + 1] - first;
    one.qkv = all.qkv.narrow(0, first, tokens);
    one.tables = all.tables;
    one.gate = all.gate;
    EXPECT_LT(largest_difference(run_reference(alone, one), together.narrow(0, first, tokens)), kExact) << b;
  }
}

// Luo et al. 2022, Theorem 2: with equal inputs at every token, terms before the softmax cannot distinguish positions,
// because rows of the softmax sum to one. The gate after the softmax can.
TEST(Attention, OnlyTheGateDistinguishesPositions) {
  AttentionCase c{.name = "theorem",
                  .shapes = {Shape::rings},
                  .terms = {.bias = true, .topology_query = true, .topology_key = true},
                  .gate = {.enabled = true}};
  AttentionInputs in = make_inputs(c);
  in.qkv = in.qkv.detach().narrow(0, 0, 1).expand({in.batch.num_tokens(), -1}).contiguous();
  const auto spread = [&](const Tensor& z) { return (z - z.narrow(0, 0, 1)).abs().max().item<double>(); };
  EXPECT_GT(spread(run_reference(c, in)), 0.1);
  c.gate.enabled = false;
  EXPECT_LT(spread(run_reference(c, in)), kExact);
}

TEST(Attention, GateOfOnesChangesNothing) {
  AttentionCase c{.name = "ones", .terms = kAllTerms, .gate = {.enabled = true}};
  AttentionInputs in = make_inputs(c);
  in.gate = torch::ones_like(in.gate);
  const Tensor gated = run_reference(c, in);
  c.gate.enabled = false;
  EXPECT_TRUE(torch::equal(gated, run_reference(c, in)));
}

}  // namespace
}  // namespace molgraph::test
