// Numbers, durations, names and words as messages show them to people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace molgraph {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);
/// "1,234,567"
std::string with_thousands(std::int64_t value);
/// Results for people, to four significant digits: "0.1234", "12.30", "12,346"; from 1e-4 down and 1e9 up "1.234e-05";
/// "-" for NaN.
std::string sensible_number(double value);
/// A column of them: as many decimals for all as give the largest four digits and the smallest three, at most six.
std::vector<std::string> sensible_column(const std::vector<double>& values);
/// "4.2 s", "3 min 05 s", "2 h 10 min"
std::string duration_text(double seconds);
/// A path, its middle left out if it is longer than a few lines.
std::string shortened(const std::string& path);
/// The entry of `candidates` that `word` was probably meant to be, or "" (edit distance with transpositions).
std::string closest_word(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace molgraph
