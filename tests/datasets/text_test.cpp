// Numbers as written into tables: enough digits to read them back, and no digits that are noise.
#include "datasets/system/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace molgraph {
namespace {

TEST(NumberText, HasTheFewestDigitsThatReadBack) {
  EXPECT_EQ(number_text(-1.77f), "-1.77");
  EXPECT_EQ(number_text(-1.77), "-1.77");
  EXPECT_EQ(number_text(-500000.0123), "-500000.0123");
  EXPECT_EQ(number_text(3.0), "3");
  EXPECT_EQ(number_text(std::nan("")), "nan");
  EXPECT_EQ(number_text(-std::nanf("")), "nan");
  EXPECT_EQ(number_text(-std::numeric_limits<float>::infinity()), "-inf");
  std::mt19937_64 random(1);
  for (int k = 0; k < 2000; ++k) {
    const double value = std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 200) - 160);
    EXPECT_EQ(std::strtod(number_text(value).c_str(), nullptr), value);
    const auto narrow = static_cast<float>(value);
    EXPECT_EQ(std::strtof(number_text(narrow).c_str(), nullptr), narrow);
    EXPECT_EQ(static_cast<float>(number_of_digits(narrow)), narrow);
  }
}

TEST(NumberText, PredictionHasTheDigitsOfItsFloat) {
  // Without scaling, or if mean and deviation have similar sizes: the digits of a float.
  EXPECT_EQ(number_text(static_cast<double>(0.1f), 1), "0.1");
  EXPECT_EQ(number_text(static_cast<double>(1e-7f), 1), "1e-07");
  EXPECT_EQ(number_text(3 + 2 * static_cast<double>(0.05f), 2), "3.1");
  EXPECT_EQ(number_text(0.0, 2), "0");
  EXPECT_EQ(number_text(std::nan(""), 2), "nan");
  // A large mean: the resolution is that of a float of size 1 in units of the deviation.
  std::mt19937_64 random(2);
  for (int k = 0; k < 2000; ++k) {
    const double unit = std::pow(10.0, -static_cast<double>(random() % 5));
    const double scaled = static_cast<float>(static_cast<double>(random() % 4'000'001) / 1e6 - 2);
    const double value = -500000 + unit * scaled, step = unit * std::numeric_limits<float>::epsilon();
    const std::string text = number_text(value, unit);
    EXPECT_NEAR(std::strtod(text.c_str(), nullptr), value, step / 2 + 1e-10) << text;
    EXPECT_LE(text.size(), 18u) << text;  // sign, point and 16 digits
  }
  EXPECT_EQ(number_text(-500000 + 0.05 * static_cast<double>(0.2f), 0.05), "-499999.99");
}

TEST(NumberText, FloatGivesTheNumberItWasReadFrom) {
  EXPECT_EQ(number_of_digits(-1.77f), -1.77);
  EXPECT_TRUE(std::isnan(number_of_digits(std::nanf(""))));
}

}  // namespace
}  // namespace molgraph
