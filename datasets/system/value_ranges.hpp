// What a value that people give may be: ranges of numbers and lists of words. One check for the command line, for files
// of options and for the options that a run has stored, and one text for --help and messages.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace molgraph {

/// Whole numbers, both ends included.
struct WholeRange {
  std::int64_t least = 0, most = 0;
};
/// Finite numbers; `above` and `below` leave the end itself out.
struct RealRange {
  double least = 0, most = 0;
  bool above = false, below = false;
};
/// std::monostate: no number.
using NumberRange = std::variant<std::monostate, WholeRange, RealRange>;

/// "0 to 1,000", "above 0, at most 100", "0 to below 1"; "" without a range.
std::string range_text(const NumberRange& range);
/// Why the text is no number of this range, "" if it is one: "'abc' is no whole number; give 0 to 1,000".
std::string number_problem(const std::string& text, const NumberRange& range);

// --- ranges that several programs have ---
inline constexpr WholeRange kSeeds{0, INT64_MAX};  ///< as config.toml can hold them
inline constexpr WholeRange kMoleculeLimits{0, 1'000'000'000'000};
inline constexpr RealRange kSplitShares{0, 1e9};

/// The words for people: "csv, tsv"; the empty one, which stands for a default, is left out.
std::string word_list(const std::vector<std::string>& words);
/// Why the text is none of the words, "" if it is one.
std::string word_problem(const std::string& text, const std::vector<std::string>& words);

}  // namespace molgraph
