// Matrix products: y = a b + bias and the gradient of b, in float32 and with bfloat16 factors.
#include <algorithm>
#include <bit>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"

namespace molgraph::test {
namespace {

class Product : public PerInstructionSet {};
MOLGRAPH_ON_EVERY_INSTRUCTION_SET(Product);

struct Size {
  std::size_t rows, depth, columns;
};
/// Full and partial register tiles, panels of one to five blocks, more rows than a gradient's block of 128, odd depths,
/// depths that tiles take in parts.
const std::vector<Size> kSizes{{1, 1, 16},    {2, 3, 16},    {5, 12, 32},    {7, 80, 48},
                               {8, 81, 64},   {29, 33, 80},  {101, 80, 96},  {131, 7, 112},
                               {6, 768, 240}, {260, 10, 16}, {37, 450, 176}, {420, 40, 48}};

std::string name_of(const Size& size) {
  return std::to_string(size.rows) + " x " + std::to_string(size.depth) + " x " + std::to_string(size.columns);
}

/// bfloat16: the upper half of a float, rounded to nearest, ties to even.
float rounded(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000u);
}
std::vector<float> rounded(std::vector<float> x) {
  for (float& value : x) value = rounded(value);
  return x;
}

struct Case {
  Size size;
  std::size_t a_stride;
  std::vector<float> a, b, bias, y;  ///< [rows, depth], [depth, columns], [columns], [rows, columns]
  explicit Case(const Size& s) : size(s), a_stride(cpu::padded(s.depth) + (s.depth % 2 == 0 ? 16 : 0)) {
    Numbers01 numbers(static_cast<unsigned>(s.rows + 7 * s.depth + 31 * s.columns));
    a = numbers.rows(s.rows, s.depth, a_stride);
    b = numbers.many(s.depth * s.columns);
    bias = numbers.many(s.columns);
    y = numbers.many(s.rows * s.columns);
  }
};

/// start + a b, summed in the order of the depth.
template <class T>
T element(const Case& c, const std::vector<float>& a, const std::vector<float>& b, std::size_t r, std::size_t column,
          T start) {
  for (std::size_t k = 0; k < c.size.depth; ++k)
    start += static_cast<T>(a[r * c.a_stride + k]) * static_cast<T>(b[k * c.size.columns + column]);
  return start;
}
/// start + a^T y.
template <class T>
T gradient_element(const Case& c, const std::vector<float>& a, const std::vector<float>& y, std::size_t k,
                   std::size_t column, T start) {
  for (std::size_t r = 0; r < c.size.rows; ++r)
    start += static_cast<T>(a[r * c.a_stride + k]) * static_cast<T>(y[r * c.size.columns + column]);
  return start;
}

TEST_P(Product, SumsOverTheDepth) {
  for (const Size& size : kSizes) {
    const Case c(size);
    std::vector<float> packed(c.b.size());
    cpu::pack_weights(c.b.data(), size.depth, size.columns, packed.data());
    enum Start { nothing, bias, sums };
    for (const Start start : {nothing, bias, sums}) {
      std::vector<float> got = start == sums ? c.y : std::vector<float>(c.y.size(), kUnset);
      cpu::Gemm g{.a = c.a.data(),
                  .a_stride = c.a_stride,
                  .rows = size.rows,
                  .depth = size.depth,
                  .weights = packed.data(),
                  .columns = size.columns,
                  .bias = start == bias ? c.bias.data() : nullptr,
                  .y = got.data(),
                  .y_stride = size.columns,
                  .accumulate = start == sums,
                  .prefetch = {}};
      if (start == bias) g.prefetch = {c.b.data(), c.b.size()};
      kernels().gemm(g);
      Errors errors;
      for (std::size_t r = 0; r < size.rows; ++r)
        for (std::size_t column = 0; column < size.columns; ++column) {
          const std::size_t at = r * size.columns + column;
          const float first = start == bias ? c.bias[column] : start == sums ? c.y[at] : 0.0f;
          errors.add(element<double>(c, c.a, c.b, r, column, first), got[at],
                     element<float>(c, c.a, c.b, r, column, first));
        }
      errors.expect_small(name_of(size));
    }
  }
}

TEST_P(Product, WeightGradientSumsOverTheRows) {
  for (const Size& size : kSizes) {
    const Case c(size);
    std::vector<float> got = c.b;
    kernels().weight_gradient({.a = c.a.data(),
                               .a_stride = c.a_stride,
                               .rows = size.rows,
                               .depth = size.depth,
                               .y = c.y.data(),
                               .y_stride = size.columns,
                               .columns = size.columns,
                               .weights = got.data(),
                               .prefetch = {c.b.data(), c.b.size()}});
    Errors errors;
    for (std::size_t k = 0; k < size.depth; ++k)
      for (std::size_t column = 0; column < size.columns; ++column) {
        const std::size_t at = k * size.columns + column;
        errors.add(gradient_element<double>(c, c.a, c.y, k, column, c.b[at]), got[at],
                   gradient_element<float>(c, c.a, c.y, k, column, c.b[at]));
      }
    errors.expect_small(name_of(size));
  }
}

// --- bfloat16 factors: the same sums, with rounded factors ---

constexpr std::uint16_t kUnsetBf16 = 0x7FC0;  ///< kUnset

/// Numbers after an array, which must not change.
constexpr std::size_t kGuard = 512;
std::vector<float> guarded(std::vector<float> x) {
  x.resize(x.size() + kGuard, 7.0f);
  return x;
}
void expect_guard(const std::vector<float>& x) {
  EXPECT_EQ(std::count(x.end() - kGuard, x.end(), 7.0f), static_cast<std::ptrdiff_t>(kGuard));
}

/// With the processor's tiles, and without.
class ProductBf16 : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
    if (GetParam() && !cpu::has_tiles()) GTEST_SKIP() << "this processor has no tiles (AMX)";
  }
  const cpu::TileScope tiles_;
};
INSTANTIATE_TEST_SUITE_P(Instructions, ProductBf16, testing::Values(false, true),
                         [](const auto& of) { return of.param ? "Tiles" : "Vectors"; });

TEST_P(ProductBf16, SumsRoundedFactors) {
  for (const Size& size : kSizes) {
    const Case c(size);
    const std::vector<float> a = rounded(c.a), b = rounded(c.b);
    std::vector<std::uint16_t> packed(cpu::bf16_panels_size(size.depth, size.columns), kUnsetBf16);
    cpu::pack_bf16(c.b.data(), size.columns, size.depth, size.columns, packed.data());
    std::vector<float> got = guarded(std::vector<float>(c.y.size(), kUnset));
    const cpu::Gemm g{.a = c.a.data(),
                      .a_stride = c.a_stride,
                      .rows = size.rows,
                      .depth = size.depth,
                      .weights = nullptr,
                      .columns = size.columns,
                      .bias = c.bias.data(),
                      .y = got.data(),
                      .y_stride = size.columns,
                      .accumulate = false,
                      .prefetch = {}};
    std::vector<std::uint16_t> scratch(cpu::gemm_bf16_scratch(g), kUnsetBf16);
    cpu::gemm_bf16(g, packed.data(), scratch.data(), GetParam());
    expect_guard(got);
    Errors sums, factors;
    for (std::size_t r = 0; r < size.rows; ++r)
      for (std::size_t column = 0; column < size.columns; ++column) {
        const std::size_t at = r * size.columns + column;
        const auto exact = element<double>(c, c.a, c.b, r, column, c.bias[column]),
                   of_rounded = element<double>(c, a, b, r, column, c.bias[column]);
        sums.add(of_rounded, got[at], element<float>(c, a, b, r, column, c.bias[column]));
        factors.add(exact, got[at], of_rounded);
      }
    sums.expect_small(name_of(size) + " of rounded factors");
    factors.expect_small(name_of(size));
  }
}

TEST_P(ProductBf16, WeightGradientSumsRoundedFactors) {
  for (const Size& size : kSizes) {
    const Case c(size);
    const std::vector<float> a = rounded(c.a), y = rounded(c.y);
    std::vector<float> got = guarded(c.b);
    const cpu::WeightGradient g{.a = c.a.data(),
                                .a_stride = c.a_stride,
                                .rows = size.rows,
                                .depth = size.depth,
                                .y = c.y.data(),
                                .y_stride = size.columns,
                                .columns = size.columns,
                                .weights = got.data(),
                                .prefetch = {}};
    std::vector<std::uint16_t> scratch(cpu::weight_gradient_bf16_scratch(g), kUnsetBf16);
    cpu::weight_gradient_bf16(g, scratch.data(), GetParam());
    expect_guard(got);
    Errors errors;
    for (std::size_t k = 0; k < size.depth; ++k)
      for (std::size_t column = 0; column < size.columns; ++column) {
        const std::size_t at = k * size.columns + column;
        errors.add(gradient_element<double>(c, a, y, k, column, c.b[at]), got[at],
                   gradient_element<float>(c, a, y, k, column, c.b[at]));
      }
    errors.expect_small(name_of(size));
  }
}

TEST(PackBf16, TransposesAndPads) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const std::size_t rows : {1, 2, 31, 32, 50})
    for (const std::size_t columns : {16, 80}) {
      const std::size_t stride = columns + 16, depth = cpu::tile_padded(rows);
      Numbers01 numbers(static_cast<unsigned>(rows + columns));
      const std::vector<float> x = numbers.many(rows * stride);
      std::vector<std::uint16_t> got(columns * depth, kUnsetBf16);
      cpu::pack_transposed_bf16(x.data(), stride, rows, columns, got.data());
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t r = 0; r < depth; ++r)
          EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(got[c * depth + r]) << 16),
                    r < rows ? rounded(x[r * stride + c]) : 0.0f)
              << r << ", " << c;
    }
}

}  // namespace
}  // namespace molgraph::test
