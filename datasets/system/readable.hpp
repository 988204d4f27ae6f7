// Formatting of numbers, durations, paths and words for messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace molgraph {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);
/// "1,234,567"
std::string with_thousands(std::int64_t value);
/// "1 row", "1,234 rows"
std::string counted(std::int64_t count, const char* singular, const char* plural);
/// Formats a result with four significant digits: "0.1234", "12.30", "12,346"; below 1e-4 and from 1e9 "1.234e-05"; "-"
/// for NaN.
std::string sensible_number(double value);
/// Formats a column of results with the same number of decimals, at most six: enough for four digits of the largest and
/// three of the smallest.
std::vector<std::string> sensible_column(const std::vector<double>& values);
/// "4.2 s", "3 min 05 s", "2 h 10 min"
std::string duration_text(double seconds);
/// Returns a path, shortened in the middle if it is longer than a few lines.
std::string shortened(const std::string& path);
/// Returns the entry of `candidates` that was probably meant by `word`, or "" (edit distance with transpositions).
std::string closest_word(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace molgraph
