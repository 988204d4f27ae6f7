// Valid user input: ranges of numbers and lists of words. The same check applies to the command line, option files and
// the stored options of a run, and the same text to --help and messages.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace molgraph {

/// Integers, both ends included.
struct WholeRange {
  std::int64_t least = 0, most = 0;
};
/// Finite numbers; `above` and `below` exclude the respective end.
struct RealRange {
  double least = 0, most = 0;
  bool above = false, below = false;
};
/// std::monostate: not a number.
using NumberRange = std::variant<std::monostate, WholeRange, RealRange>;

/// Returns "0 to 1,000", "above 0, at most 100", "0 to below 1"; "" without a range.
std::string range_text(const NumberRange& range);
/// Returns why the text is not a number of this range, "" if it is: "'abc' is not a whole number; give 0 to 1,000".
std::string number_problem(const std::string& text, const NumberRange& range);

// --- ranges shared by several programs ---
inline constexpr WholeRange kSeeds{0, INT64_MAX};  ///< limited by config.toml
inline constexpr WholeRange kMoleculeLimits{0, 1'000'000'000'000};
inline constexpr RealRange kSplitShares{0, 1e9};

/// Returns the words as "csv, tsv", without the empty word, which represents a default.
std::string word_list(const std::vector<std::string>& words);
/// Returns why the text is not one of the words, "" if it is.
std::string word_problem(const std::string& text, const std::vector<std::string>& words);

}  // namespace molgraph
