#include "datasets/system/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>

namespace molgraph {
namespace {

template <typename... Format>
std::string formatted(Format... format) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, format...).ptr};
}

/// Returns e with 10^e <= |value| < 10^(e + 1), up to rounding.
int decimal_exponent(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); }

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return result;
}

std::string list_of(const std::vector<std::string>& items, std::size_t max_items) {
  std::string result;
  for (std::size_t i = 0; i < std::min(items.size(), max_items); ++i) result += (i ? ", " : "") + items[i];
  if (items.size() > max_items) result += " ... and " + std::to_string(items.size() - max_items) + " more";
  return result;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string number_text(float value) { return std::isnan(value) ? "nan" : formatted(value); }
std::string number_text(double value) { return std::isnan(value) ? "nan" : formatted(value); }

std::string number_text(double value, double unit) {
  constexpr double kStep = std::numeric_limits<float>::epsilon();  // spacing of floats of size 1
  constexpr double kLarge = 8;                                     // three bits of the float would be lost
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded) || rounded == 0) return number_text(rounded);
  const double float_step =
      std::nextafter(std::abs(rounded), std::numeric_limits<float>::infinity()) - std::abs(rounded);
  if (!(unit * kStep * kLarge < float_step) || unit <= 0) return number_text(rounded);
  const int digits = decimal_exponent(value) - decimal_exponent(unit * kStep) + 1;
  constexpr int kMax = std::numeric_limits<double>::max_digits10 - 1;  // the last digit of a double is noise
  return formatted(value, std::chars_format::general, std::clamp(digits, 1, kMax));
}

double number_of_digits(float value) {
  if (!std::isfinite(value)) return value;
  const std::string text = number_text(value);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace molgraph
