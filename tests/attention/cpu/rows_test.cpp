// Elementwise kernels on rows, and the bits of dropout. All results must be bit-identical to those of plain loops.
#include "tests/attention/cpu/kernel_checks.hpp"

namespace molgraph::test {
namespace {

class Rows : public PerInstructionSet {};
MOLGRAPH_ON_EVERY_INSTRUCTION_SET(Rows);

TEST_P(Rows, ProductSumAndDropout) {
  constexpr std::size_t kRows = 6, kStride = 112, kCount = kRows * kStride;
  Numbers01 numbers(1);
  const std::vector<float> a = numbers.many(kCount), b = numbers.many(kCount);
  const std::vector<std::uint8_t> bits = numbers.bits(kCount / 8, 0.7);
  std::vector<float> product = b, sum = b, dropped(kCount, kUnset);
  kernels().multiply(a.data(), product.data(), kCount);
  kernels().add(a.data(), sum.data(), kCount);
  kernels().drop(a.data(), dropped.data(), kRows, kStride, {bits.data(), 1.3f});
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(product[i], a[i] * b[i]);
    EXPECT_EQ(sum[i], a[i] + b[i]);
    EXPECT_EQ(dropped[i], bit(bits, i) ? a[i] * 1.3f : 0.0f);
  }
}

TEST_P(Rows, ColumnSumsKeepTheOrderOfRows) {
  Numbers01 numbers(2);
  for (const std::size_t rows : {1, 2, 29, 130})
    for (const std::size_t columns : {16, 48, 240}) {
      const std::size_t stride = columns + 16;
      const std::vector<float> y = numbers.many(rows * stride);
      std::vector<float> got = numbers.many(columns), expected = got;
      kernels().column_sums(y.data(), rows, stride, columns, got.data());
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) expected[c] += y[r * stride + c];
      EXPECT_EQ(got, expected) << rows << " x " << columns;
    }
}

std::vector<std::uint16_t> draws(std::size_t count) {
  std::mt19937 random(4);
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(random());
  return values;
}

TEST_P(Rows, DropoutBitsOfChannels) {
  for (const std::size_t width : {1, 7, 8, 10, 16, 33, 80}) {
    constexpr std::size_t kRows = 9;
    const std::size_t stride = cpu::padded(width);
    std::vector<std::uint16_t> drawn = draws(kRows * width);
    constexpr std::uint32_t kThreshold = 20'000;
    drawn[0] = kThreshold;  // is kept
    std::vector<std::uint8_t> bits(kRows * stride / 8, 0xAA);
    kernels().channel_bits(drawn.data(), kThreshold, kRows, width, stride, bits.data());
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t c = 0; c < stride; ++c)
        EXPECT_EQ(bit(bits, r * stride + c), c < width && drawn[r * width + c] >= kThreshold) << width;
  }
}

TEST_P(Rows, DropoutBitsOfHeads) {
  for (const std::size_t heads : {1, 3, 8, 12, 20, 32}) {
    constexpr std::size_t kPairs = 49;
    const std::size_t padded = cpu::padded_heads(heads);
    const std::vector<std::uint16_t> drawn = draws(heads * kPairs);
    constexpr std::uint32_t kThreshold = 40'000;
    std::vector<std::uint8_t> bits(kPairs * padded / 8, 0xAA);
    kernels().head_bits(drawn.data(), kThreshold, heads, kPairs, bits.data());
    for (std::size_t p = 0; p < kPairs; ++p)
      for (std::size_t h = 0; h < padded; ++h)
        EXPECT_EQ(bit(bits, p * padded + h), h < heads && drawn[h * kPairs + p] >= kThreshold) << heads;
  }
}

}  // namespace
}  // namespace molgraph::test
