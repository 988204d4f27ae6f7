// Shared by the tests of single kernels on all devices: random numbers and the allowed error.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace molgraph::test {

inline constexpr float kUnset =
    std::numeric_limits<float>::quiet_NaN();  ///< memory that was not written and must not be read

/// Random numbers with a standard normal distribution.
class Numbers01 {
 public:
  explicit Numbers01(unsigned seed) : random_(seed) {}
  float next() { return normal_(random_); }
  std::vector<float> many(std::size_t count) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = next();
    return numbers;
  }
  /// [rows, stride], zero beyond `width`.
  std::vector<float> rows(std::size_t rows, std::size_t width, std::size_t stride) {
    std::vector<float> numbers(rows * stride, 0.0f);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < width; ++c) numbers[r * stride + c] = next();
    return numbers;
  }
  /// Random bits, of which about `share` are set. Eight bytes are added, because kernels read whole words.
  std::vector<std::uint8_t> bits(std::size_t bytes, double share = 0.8) {
    std::vector<std::uint8_t> bits(bytes + 8, 0);
    for (std::size_t b = 0; b < 8 * bytes; ++b)
      if (std::uniform_real_distribution<>()(random_) < share)
        bits[b / 8] = static_cast<std::uint8_t>(bits[b / 8] | 1 << b % 8);
    return bits;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

inline bool bit(const std::vector<std::uint8_t>& bits, std::size_t at) { return (bits[at / 8] >> at % 8 & 1) != 0; }

/// Errors of a kernel and of the same formula in plain float loops, both compared with the formula in double, over the
/// numbers of an array.
class Errors {
 public:
  void add(double expected, double actual, double plain) {
    count_ += 1;
    largest_ = std::max(largest_, std::abs(expected));
    kernel_.add(actual - expected);
    plain_.add(plain - expected);
  }
  /// The root mean square error of the kernel is at most twice that of the plain loops, plus an eighth of one rounding
  /// of the largest number. The largest single error depends on chance if there are few numbers: it is at most four
  /// times that of the plain loops, plus one rounding.
  void expect_small(const std::string& what) const {
    EXPECT_GT(count_, 0u) << what;
    const double rounding = largest_ * std::numeric_limits<float>::epsilon() / 2;
    EXPECT_LE(kernel_.mean(count_), 2 * plain_.mean(count_) + rounding / 8) << what << ": largest number " << largest_;
    EXPECT_LE(kernel_.largest, 4 * plain_.largest + rounding) << what << ": largest number " << largest_;
  }

 private:
  struct Sum {
    double squares = 0, largest = 0;
    void add(double error) {
      squares += error * error;
      if (!(std::abs(error) <= largest)) largest = std::abs(error);  // NaN too
    }
    double mean(std::size_t count) const { return std::sqrt(squares / static_cast<double>(count)); }
  };
  std::size_t count_ = 0;
  double largest_ = 0;
  Sum kernel_, plain_;
};

}  // namespace molgraph::test
