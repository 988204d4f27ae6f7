#include "datasets/system/readable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace molgraph {
namespace {

constexpr int kDigits = 4;
constexpr double kSmallest = 1e-4, kLargest = 1e9;  // no exponent between these values

/// Returns the digits before the decimal point after rounding to kDigits digits: 3 for 123.4, -1 for 0.0123.
int magnitude(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*e", kDigits - 1, std::abs(value));
  return std::atoi(std::strchr(text, 'e') + 1) + 1;
}

bool needs_exponent(double value) {
  return value != 0 && (!(std::abs(value) >= kSmallest) || !(std::abs(value) < kLargest));
}

std::string with_decimals(double value, int decimals) {
  char text[64];
  if (std::isnan(value)) return "-";
  if (needs_exponent(value)) {
    std::snprintf(text, sizeof text, "%.*e", kDigits - 1, value);
    return text;
  }
  if (decimals == 0 && std::abs(value) >= 1000) return with_thousands(std::llround(value));
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string text(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string result(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return result;
}

std::string with_thousands(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string counted(std::int64_t count, const char* singular, const char* plural) {
  return with_thousands(count) + " " + (count == 1 ? singular : plural);
}

std::string sensible_number(double value) {
  const bool plain = std::isfinite(value) && value != 0;
  return with_decimals(value, plain ? std::max(0, kDigits - magnitude(value)) : kDigits);
}

std::vector<std::string> sensible_column(const std::vector<double>& values) {
  constexpr int kMaxDecimals = 6;
  double largest = 0, smallest = kLargest;
  for (const double value : values) {
    if (std::isnan(value) || value == 0 || needs_exponent(value)) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  int decimals = kDigits;
  if (largest > 0) {
    decimals = std::max(kDigits - magnitude(largest), std::min(kDigits - 1 - magnitude(smallest), kMaxDecimals));
    decimals = std::clamp(decimals, 0, kMaxDecimals);
  }
  std::vector<std::string> column;
  for (const double value : values) column.push_back(with_decimals(value, decimals));
  return column;
}

std::string duration_text(double seconds) {
  char text[48];
  if (!(seconds < 1e9)) return "a long time";
  const auto whole = static_cast<long>(std::llround(seconds));
  if (seconds < 9.95) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (whole < 60) {
    std::snprintf(text, sizeof text, "%ld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%ld min %02ld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld h %02ld min", whole / 3600, whole % 3600 / 60);
  }
  return text;
}

std::string shortened(const std::string& path) {
  constexpr std::size_t kEnd = 100;
  return path.size() <= 3 * kEnd ? path : path.substr(0, kEnd) + " ... " + path.substr(path.size() - kEnd);
}

std::string closest_word(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 100;  // longer words are not misspelt flags, and comparing them is slow
  if (word.size() > kLongestWord) return {};
  std::string best;
  std::size_t min_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // A prefix of at least three letters counts like one wrong letter: "--thr" is a prefix of a flag, "--epoch-number"
    // is not.
    const bool is_prefix = word.size() >= 3 && candidate.rfind(word, 0) == 0;
    const std::size_t distance = is_prefix ? 1 : edit_distance(word, candidate);
    if (distance < min_distance) {
      min_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace molgraph
