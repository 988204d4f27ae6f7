// Kernels of the states of pairs with bfloat16 factors, compared with those in float32 (pair_states_test.cpp). With
// small integers, no number is rounded, so both must be equal.
#include "attention/cpu/kernels/pair_states_bf16.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"

namespace molgraph::test {
namespace {

constexpr std::size_t kHeads = cpu::kPairHeads;
/// Of the largest number of an array. A factor in bfloat16 has a relative error of at most 2^-9.
constexpr double kRoundingError = 0.012;

struct RoundedSize {
  std::size_t tokens, queries, next_queries, head_width, width;
};
const RoundedSize kRoundedSizes[] = {{1, 1, 1, 10, 16}, {7, 7, 7, 10, 32},  {23, 23, 23, 10, 32}, {24, 24, 24, 7, 48},
                                     {9, 9, 9, 17, 64}, {13, 13, 1, 4, 32}, {13, 1, 0, 7, 32},    {6, 6, 0, 2, 16}};

/// The float32 kernels that process one state at a time, which have the simplest layout.
const cpu::Kernels& plain_kernels() {
  for (const cpu::Kernels* kernels : cpu::all_kernels())
    if (kernels->states_at_once(kHeads) == 1) return *kernels;
  throw std::logic_error("no kernels with one state at a time");
}

using Floats = cpu::AlignedVector<float>;

/// x [a, b, c] -> [c, b, a].
Floats turned(const Floats& x, std::size_t a, std::size_t b, std::size_t c) {
  Floats out(x.size());
  for (std::size_t i = 0; i < a; ++i)
    for (std::size_t j = 0; j < b; ++j)
      for (std::size_t k = 0; k < c; ++k) out[(k * b + j) * a + i] = x[(i * b + j) * c + k];
  return out;
}

class RoundedCase {
 public:
  RoundedCase(const RoundedSize& size, bool integers) : s_(size), integers_(integers), random_(5) {}

  void compare() {
    const std::size_t n = s_.tokens, pairs = n * n, states = s_.width, channels = kHeads * s_.head_width,
                      stride = cpu::padded(channels);
    const bool is_last = s_.next_queries == 0;
    const Floats e = some(pairs * states, 2), weights = some(pairs * kHeads, 2), z = some(s_.queries * stride, 2),
                 value = some(channels * states, 1), update = some(2 * kHeads * states, 1),
                 update_bias = some(states, 2), bias = some(kHeads * states, 1);
    Floats scores = some(pairs * kHeads, 1), softmax = some(pairs * kHeads, 2);
    for (float& score : scores) score *= integers_ ? 4 : 1;  // bounded(4) = 2
    for (float& a : softmax) a *= 0.25f;
    // value [H, d, S], bias [H, S] and update [2H, S] in the order of the float32 kernels
    const Floats plain_value = turned(value, kHeads, s_.head_width, states),
                 plain_bias = turned(bias, kHeads, 1, states), plain_update = turned(update, 2 * kHeads, 1, states);

    Floats plain_z = z, rounded_z = z;
    Floats read(s_.queries * states * kHeads), next(pairs * states, kUnset), next_bias(pairs * kHeads, kUnset);
    Floats rounded_next = next, rounded_next_bias = next_bias, scratch(4 * n * kHeads + 2 * states * kHeads);
    cpu::PairLayer plain{.tokens = n,
                         .queries = s_.queries,
                         .heads = kHeads,
                         .head_width = s_.head_width,
                         .next_queries = s_.next_queries,
                         .width = states,
                         .e = e.data(),
                         .weights = weights.data(),
                         .scores = scores.data(),
                         .softmax = softmax.data(),
                         .value = plain_value.data(),
                         .read = read.data(),
                         .z = plain_z.data(),
                         .z_stride = stride,
                         .update_bias = update_bias.data(),
                         .scratch = scratch.data()};
    cpu::PairLayer layer = plain;
    layer.value = layer.read = nullptr, layer.scratch = nullptr, layer.z = rounded_z.data();
    cpu::Rounded e16(pairs * states), next16(pairs * states), read16(s_.queries * kHeads * states),
        scratch16(cpu::pair_layer_bf16_scratch(n, s_.head_width, states));
    cpu::round_states(e.data(), e.size(), e16.data());
    cpu::PairWeights own;
    cpu::round_pair_weights(value.data(), bias.data(), is_last ? nullptr : update.data(), s_.head_width, states, own);
    cpu::RoundedPairs rounded{.e = e16.data(), .read = read16.data(), .weights = &own, .scratch = scratch16.data()};
    if (!is_last) {
      plain.update = update.data(), plain.next_bias_weight = plain_bias.data();
      plain.next = next.data(), plain.next_bias = next_bias.data();
      layer.next = rounded_next.data(), layer.next_bias = rounded_next_bias.data();
      rounded.next = next16.data(), rounded.next_weights = &own;
    }
    plain_kernels().pair_layer(plain);
    cpu::pair_layer_bf16(layer, rounded);
    expect_same(plain_z, rounded_z, "z");
    expect_same(next, rounded_next, "next");
    expect_same(next_bias, rounded_next_bias, "next_bias");

    const Floats dz = some(s_.queries * stride, 1), dnext_bias = some(pairs * kHeads, 1);
    Floats de = some(pairs * states, 1), dweights(pairs * kHeads, 1.0f), dscores(pairs * kHeads, 1.0f);
    if (is_last) std::ranges::fill(de, kUnset);
    Floats dsoftmax = dscores, dvalue(channels * states), dbias(kHeads * states), dupdate(2 * kHeads * states),
           dupdate_bias(states);
    cpu::PairLayerGradient d{.dz = dz.data(), .dz_stride = stride, .de = de.data()};
    const auto outputs_of = [&](cpu::PairLayerGradient& to) {
      to.dweights = dweights.data(), to.dscores = dscores.data(), to.dsoftmax = dsoftmax.data();
      to.dvalue = dvalue.data();
      if (is_last) return;
      to.dnext_bias = dnext_bias.data();
      to.dnext_bias_weight = dbias.data(), to.dupdate = dupdate.data(), to.dupdate_bias = dupdate_bias.data();
    };
    outputs_of(d);
    cpu::PairLayerGradient plain_d = d;
    plain_d.next_bias_weight = bias.data(), plain_d.update = plain_update.data();
    Floats plain_de = de;
    plain_d.de = plain_de.data();
    plain_kernels().pair_layer_gradient(plain, plain_d);
    const std::vector<std::pair<const char*, Floats*>> outputs{
        {"dweights", &dweights}, {"dscores", &dscores}, {"dsoftmax", &dsoftmax},        {"dvalue", &dvalue},
        {"dbias", &dbias},       {"dupdate", &dupdate}, {"dupdate_bias", &dupdate_bias}};
    std::vector<Floats> expected;
    for (const auto& [name, output] : outputs) {
      expected.push_back(*output);
      std::ranges::fill(*output, name[1] == 'w' || name[1] == 's' ? 1.0f : 0.0f);
    }
    expected[3] = turned(expected[3], states, s_.head_width, kHeads);
    cpu::pair_layer_gradient_bf16(layer, d, rounded);
    expect_same(plain_de, de, "de");
    for (std::size_t k = 0; k < outputs.size(); ++k) expect_same(expected[k], *outputs[k].second, outputs[k].first);
  }

 private:
  /// Integers from -largest to largest, or normal numbers.
  Floats some(std::size_t count, int largest) {
    Floats numbers(count);
    for (float& x : numbers)
      x = integers_ ? std::round(std::clamp(random_.next(), -1.0f, 1.0f) * static_cast<float>(largest))
                    : random_.next();
    return numbers;
  }
  void expect_same(const Floats& expected, const Floats& got, const std::string& what) const {
    ASSERT_EQ(expected.size(), got.size());
    double largest = 0, error = 0;
    for (std::size_t p = 0; p < got.size(); ++p) {
      ASSERT_EQ(std::isnan(expected[p]), std::isnan(got[p])) << what << " at " << p << of_size();
      if (std::isnan(got[p])) continue;
      largest = std::max(largest, std::abs(static_cast<double>(expected[p])));
      error = std::max(error, std::abs(static_cast<double>(expected[p]) - got[p]));
    }
    EXPECT_LE(error, integers_ ? 0 : kRoundingError * largest) << what << of_size();
  }
  std::string of_size() const {
    return ", " + std::to_string(s_.tokens) + " tokens, " + std::to_string(s_.width) + " states, head width " +
           std::to_string(s_.head_width);
  }

  const RoundedSize s_;
  const bool integers_;
  Numbers01 random_;
};

TEST(RoundedPairStates, AreExactForSmallIntegers) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const RoundedSize& size : kRoundedSizes) RoundedCase(size, true).compare();
}

TEST(RoundedPairStates, AreCloseForOtherNumbers) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const RoundedSize& size : kRoundedSizes) RoundedCase(size, false).compare();
}

}  // namespace
}  // namespace molgraph::test
