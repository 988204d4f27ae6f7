// Matrix products: y = a b + bias and the gradient of b, in float32 and with bfloat16 factors.
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
/// Full and partial register tiles, panels of one to five blocks, more rows than a gradient's block of 128, odd depths.
const std::vector<Size> kSizes{{1, 1, 16},   {2, 3, 16},    {5, 12, 32},   {7, 80, 48},   {8, 81, 64},
                               {29, 33, 80}, {101, 80, 96}, {131, 7, 112}, {6, 768, 240}, {260, 10, 16}};

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
      errors.expect_small(std::to_string(size.rows) + " x " + std::to_string(size.depth) + " x " +
                          std::to_string(size.columns));
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
    errors.expect_small(std::to_string(size.rows) + " x " + std::to_string(size.depth) + " x " +
                        std::to_string(size.columns));
  }
}

// --- bfloat16 factors: the same sums, with rounded factors ---

TEST(ProductBf16, SumsRoundedFactors) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const Size& size : kSizes) {
    const Case c(size);
    const std::vector<float> a = rounded(c.a), b = rounded(c.b);
    std::vector<std::uint16_t> packed(cpu::bf16_panels_size(size.depth, size.columns));
    cpu::pack_bf16(c.b.data(), size.columns, size.depth, size.columns, packed.data());
    std::vector<float> got(c.y.size(), kUnset);
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
    std::vector<std::uint16_t> scratch(cpu::gemm_bf16_scratch(g));
    cpu::gemm_bf16(g, packed.data(), scratch.data());
    Errors sums, factors;
    for (std::size_t r = 0; r < size.rows; ++r)
      for (std::size_t column = 0; column < size.columns; ++column) {
        const std::size_t at = r * size.columns + column;
        const auto exact = element<double>(c, c.a, c.b, r, column, c.bias[column]),
                   of_rounded = element<double>(c, a, b, r, column, c.bias[column]);
        sums.add(of_rounded, got[at], element<float>(c, a, b, r, column, c.bias[column]));
        factors.add(exact, got[at], of_rounded);
      }
    const std::string name =
        std::to_string(size.rows) + " x " + std::to_string(size.depth) + " x " + std::to_string(size.columns);
    sums.expect_small(name + " of rounded factors");
    factors.expect_small(name);
  }
}

TEST(ProductBf16, WeightGradientSumsRoundedFactors) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const Size& size : kSizes) {
    const Case c(size);
    const std::vector<float> a = rounded(c.a), y = rounded(c.y);
    std::vector<float> got = c.b;
    const cpu::WeightGradient g{.a = c.a.data(),
                                .a_stride = c.a_stride,
                                .rows = size.rows,
                                .depth = size.depth,
                                .y = c.y.data(),
                                .y_stride = size.columns,
                                .columns = size.columns,
                                .weights = got.data(),
                                .prefetch = {}};
    std::vector<std::uint16_t> scratch(cpu::weight_gradient_bf16_scratch(g));
    cpu::weight_gradient_bf16(g, scratch.data());
    Errors errors;
    for (std::size_t k = 0; k < size.depth; ++k)
      for (std::size_t column = 0; column < size.columns; ++column) {
        const std::size_t at = k * size.columns + column;
        errors.add(gradient_element<double>(c, a, y, k, column, c.b[at]), got[at],
                   gradient_element<float>(c, a, y, k, column, c.b[at]));
      }
    errors.expect_small(std::to_string(size.rows) + " x " + std::to_string(size.depth) + " x " +
                        std::to_string(size.columns));
  }
}

}  // namespace
}  // namespace molgraph::test
