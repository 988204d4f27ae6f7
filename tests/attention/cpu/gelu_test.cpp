// GELU with its derivative, followed by dropout. The kernels approximate Phi; the test uses erf and exp of the library.
#include "tests/attention/cpu/kernel_checks.hpp"

namespace molgraph::test {
namespace {

class Gelu : public PerInstructionSet {};
MOLGRAPH_ON_EVERY_INSTRUCTION_SET(Gelu);

template <class T>
T phi(T x) {
  return T(0.5) * (1 + std::erf(x * T(0.70710678118654752440)));
}
template <class T>
T slope_of(T x) {
  return phi(x) + x * T(0.39894228040143267794) * std::exp(T(-0.5) * x * x);
}

TEST_P(Gelu, ValueAndDerivative) {
  constexpr std::size_t kRows = 50, kStride = 80;
  std::vector<float> x(kRows * kStride);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 12.0f * (static_cast<float>(i) / static_cast<float>(x.size()) - 0.5f);
  x[0] = 0;
  x[1] = -100, x[2] = 100, x[3] = -0.0f, x[4] = 1e-20f;
  std::vector<float> value = x, slope(x.size(), kUnset), value_alone = x;
  kernels().gelu(value.data(), slope.data(), kRows, kStride, {});
  kernels().gelu(value_alone.data(), nullptr, kRows, kStride, {});
  EXPECT_EQ(value, value_alone);
  Errors values, slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wide = x[i];
    values.add(wide * phi(wide), value[i], x[i] * phi(x[i]));
    slopes.add(slope_of(wide), slope[i], slope_of(x[i]));
  }
  values.expect_small("GELU");
  slopes.expect_small("its derivative");
  EXPECT_EQ(value[0], 0);
  EXPECT_EQ(value[2], 100);
  EXPECT_EQ(std::abs(value[1]), 0);
}

TEST_P(Gelu, DropoutFollows) {
  constexpr std::size_t kRows = 7, kStride = 48;
  constexpr float kScale = 1.5f;
  Numbers01 numbers(3);
  const std::vector<float> x = numbers.many(kRows * kStride);
  const std::vector<std::uint8_t> bits = numbers.bits(kRows * kStride / 8, 0.5);
  std::vector<float> value = x, slope(x.size()), dropped = x, dropped_slope(x.size(), kUnset);
  kernels().gelu(value.data(), slope.data(), kRows, kStride, {});
  kernels().gelu(dropped.data(), dropped_slope.data(), kRows, kStride, {bits.data(), kScale});
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(dropped[i], bit(bits, i) ? value[i] * kScale : 0) << i;
    EXPECT_EQ(dropped_slope[i], bit(bits, i) ? slope[i] * kScale : 0) << i;
  }
}

}  // namespace
}  // namespace molgraph::test
