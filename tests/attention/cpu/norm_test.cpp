// Residual sum with dropout, followed by LayerNorm: forward and backward.
#include "attention/spec/options.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"

namespace molgraph::test {
namespace {

class Norm : public PerInstructionSet {};
MOLGRAPH_ON_EVERY_INSTRUCTION_SET(Norm);

constexpr std::size_t kRows = 40;
constexpr float kKeepScale = 1.25f;
const std::vector<std::size_t> kWidths{2, 3, 10, 12, 16, 31, 64, 80, 81, 128, 160, 300};

struct Case {
  std::size_t width, stride;
  std::vector<float> x, y, weight, bias;
  std::vector<std::uint8_t> bits;
  explicit Case(std::size_t w) : width(w), stride(cpu::padded(w)) {
    Numbers01 numbers(static_cast<unsigned>(w));
    x = numbers.rows(kRows, w, stride);
    y = numbers.rows(kRows, w, stride);
    weight = numbers.rows(1, w, stride);
    bias = numbers.rows(1, w, stride);
    for (std::size_t c = 0; c < w; ++c) weight[c] += 1;
    bits = numbers.bits(kRows * stride / 8);
  }
  bool kept(std::size_t row, std::size_t c) const { return bit(bits, row * stride + c); }
};

/// One row in plain loops.
template <class T>
struct PlainRow {
  std::vector<T> sum, unit, normed;
  T mean = 0, scale = 0;

  PlainRow(const Case& c, std::size_t row, bool branch, bool drop) {
    for (std::size_t k = 0; k < c.width; ++k) {
      T value = c.x[row * c.stride + k];
      if (branch && (!drop || c.kept(row, k)))
        value += static_cast<T>(c.y[row * c.stride + k]) * (drop ? T(kKeepScale) : T(1));
      sum.push_back(value);
      mean += value;
    }
    mean /= static_cast<T>(c.width);
    T square = 0;
    for (const T value : sum) square += (value - mean) * (value - mean);
    scale = 1 / std::sqrt(square / static_cast<T>(c.width) + static_cast<T>(kLayerNormEpsilon));
    for (std::size_t k = 0; k < c.width; ++k) {
      unit.push_back((sum[k] - mean) * scale);
      normed.push_back(unit[k] * static_cast<T>(c.weight[k]) + static_cast<T>(c.bias[k]));
    }
  }
  /// The gradient with respect to `sum`, for the output gradient dy.
  std::vector<T> gradient(const Case& c, const float* dy) const {
    T total = 0, product = 0;
    for (std::size_t k = 0; k < c.width; ++k) {
      const T slope = static_cast<T>(dy[k]) * static_cast<T>(c.weight[k]);
      total += slope;
      product += slope * unit[k];
    }
    const auto width = static_cast<T>(c.width);
    std::vector<T> dx;
    for (std::size_t k = 0; k < c.width; ++k)
      dx.push_back(scale *
                   (static_cast<T>(dy[k]) * static_cast<T>(c.weight[k]) - total / width - unit[k] * product / width));
    return dx;
  }
};

TEST_P(Norm, ResidualSumAndLayerNormMatchPlainLoops) {
  for (const std::size_t width : kWidths) {
    const Case c(width);
    for (const bool branch : {false, true})
      for (const bool drop : {false, true}) {
        std::vector<float> sum(c.x.size(), kUnset), normed(c.x.size(), kUnset), statistics(2 * kRows, kUnset);
        cpu::ResidualNorm g{.rows = kRows,
                            .width = width,
                            .stride = c.stride,
                            .x = c.x.data(),
                            .y = branch ? c.y.data() : nullptr,
                            .keep = {},
                            .weight = c.weight.data(),
                            .bias = c.bias.data(),
                            .sum = sum.data(),
                            .normed = normed.data(),
                            .statistics = statistics.data()};
        if (drop) g.keep = {c.bits.data(), kKeepScale};
        kernels().residual_norm(g);
        Errors sums, norms, numbers;
        for (std::size_t r = 0; r < kRows; ++r) {
          const PlainRow<double> expected(c, r, branch, drop);
          const PlainRow<float> plain(c, r, branch, drop);
          for (std::size_t k = 0; k < width; ++k) {
            sums.add(expected.sum[k], sum[r * c.stride + k], plain.sum[k]);
            norms.add(expected.normed[k], normed[r * c.stride + k], plain.normed[k]);
          }
          numbers.add(expected.mean, statistics[2 * r], plain.mean);
          numbers.add(expected.scale, statistics[2 * r + 1], plain.scale);
          for (std::size_t k = width; k < c.stride; ++k) {
            EXPECT_EQ(sum[r * c.stride + k], 0) << width;
            EXPECT_EQ(normed[r * c.stride + k], 0) << width;
          }
        }
        const std::string name = "width " + std::to_string(width);
        sums.expect_small(name + ", sums");
        norms.expect_small(name + ", LayerNorm");
        numbers.expect_small(name + ", mean and scale");

        std::vector<float> alone(c.x.size(), kUnset);
        g.sum = alone.data();
        g.normed = nullptr;
        g.statistics = nullptr;
        kernels().residual_norm(g);
        EXPECT_EQ(alone, sum) << name << " without a LayerNorm";
      }
  }
}

TEST_P(Norm, GradientMatchesPlainLoops) {
  Errors parameters;  // of all widths together, because each has few numbers
  for (const std::size_t width : kWidths) {
    const Case c(width);
    Numbers01 numbers(static_cast<unsigned>(width) + 1000);
    const std::vector<float> dy = numbers.rows(kRows, width, c.stride), before = numbers.rows(kRows, width, c.stride);
    std::vector<float> sum(c.x.size()), normed(c.x.size()), statistics(2 * kRows);
    kernels().residual_norm({.rows = kRows,
                             .width = width,
                             .stride = c.stride,
                             .x = c.x.data(),
                             .y = c.y.data(),
                             .keep = {},
                             .weight = c.weight.data(),
                             .bias = c.bias.data(),
                             .sum = sum.data(),
                             .normed = normed.data(),
                             .statistics = statistics.data()});
    for (const bool accumulate : {false, true}) {
      std::vector<float> dx = accumulate ? before : std::vector<float>(before.size(), kUnset), dweight = c.bias,
                         dbias = c.weight;
      kernels().norm_gradient({.rows = kRows,
                               .width = width,
                               .stride = c.stride,
                               .sum = sum.data(),
                               .statistics = statistics.data(),
                               .dy = dy.data(),
                               .weight = c.weight.data(),
                               .dx = dx.data(),
                               .dweight = dweight.data(),
                               .dbias = dbias.data(),
                               .accumulate = accumulate});
      Errors slopes;
      std::vector<double> expected_weight(c.bias.begin(), c.bias.end()),
          expected_bias(c.weight.begin(), c.weight.end());
      std::vector<float> plain_weight = c.bias, plain_bias = c.weight;
      for (std::size_t r = 0; r < kRows; ++r) {
        const PlainRow<double> row(c, r, true, false);
        const PlainRow<float> plain_row(c, r, true, false);
        const std::vector<double> expected = row.gradient(c, dy.data() + r * c.stride);
        const std::vector<float> plain = plain_row.gradient(c, dy.data() + r * c.stride);
        for (std::size_t k = 0; k < width; ++k) {
          const std::size_t at = r * c.stride + k;
          const float first = accumulate ? before[at] : 0.0f;
          slopes.add(first + expected[k], dx[at], first + plain[k]);
          expected_weight[k] += dy[at] * row.unit[k];
          plain_weight[k] += dy[at] * plain_row.unit[k];
          expected_bias[k] += dy[at];
          plain_bias[k] += dy[at];
        }
        for (std::size_t k = width; k < c.stride; ++k) EXPECT_EQ(dx[r * c.stride + k], 0) << width;
      }
      for (std::size_t k = 0; k < width; ++k) {
        parameters.add(expected_weight[k], dweight[k], plain_weight[k]);
        parameters.add(expected_bias[k], dbias[k], plain_bias[k]);
      }
      slopes.expect_small("width " + std::to_string(width) + ", slopes");
    }
  }
  parameters.expect_small("weight and bias");
}

}  // namespace
}  // namespace molgraph::test
