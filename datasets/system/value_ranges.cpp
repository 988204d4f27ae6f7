#include "datasets/system/value_ranges.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

std::string real_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// Parses the whole text as a number; false if it is not one. Blanks and a leading + are not accepted.
template <class T>
bool read_number(const std::string& text, T& value, std::errc& problem) {
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  problem = code;
  return stop == end && (code == std::errc() || code == std::errc::result_out_of_range);
}

std::string range_problem(const std::string& text, const NumberRange& range) {
  return "'" + text + "' is out of range; give " + range_text(range);
}

std::string problem_in(const std::string&, std::monostate) { return {}; }

std::string problem_in(const std::string& text, const WholeRange& range) {
  std::int64_t value = 0;
  std::errc code{};
  if (!read_number(text, value, code)) return "'" + text + "' is not a whole number; give " + range_text(range);
  return code == std::errc() && value >= range.least && value <= range.most ? "" : range_problem(text, range);
}

std::string problem_in(const std::string& text, const RealRange& range) {
  double value = 0;
  std::errc code{};
  if (!read_number(text, value, code) || std::isnan(value))
    return "'" + text + "' is not a number; give " + range_text(range);
  if (code != std::errc()) return range_problem(text, range);  // 1e999, 1e-999
  const bool low = range.above ? value > range.least : value >= range.least;
  const bool high = range.below ? value < range.most : value <= range.most;
  return low && high ? "" : range_problem(text, range);
}

}  // namespace

std::string range_text(const NumberRange& range) {
  if (const auto* whole = std::get_if<WholeRange>(&range)) {
    if (whole->most == INT64_MAX) return with_thousands(whole->least) + " or more, below 2^63";
    return with_thousands(whole->least) + " to " + with_thousands(whole->most);
  }
  const auto* real = std::get_if<RealRange>(&range);
  if (real == nullptr) return {};
  const std::string most = real_text(real->most);
  if (real->above) return "above " + real_text(real->least) + (real->below ? ", below " : ", at most ") + most;
  return real_text(real->least) + (real->below ? " to below " : " to ") + most;
}

std::string number_problem(const std::string& text, const NumberRange& range) {
  return std::visit([&](const auto& kind) { return problem_in(text, kind); }, range);
}

std::string word_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words)
    if (!word.empty()) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string word_problem(const std::string& text, const std::vector<std::string>& words) {
  if (words.empty() || std::find(words.begin(), words.end(), text) != words.end()) return {};
  const std::string suggestion = closest_word(text, words);
  return "'" + text + "' is not one of " + word_list(words) +
         (suggestion.empty() ? "" : "; did you mean " + suggestion + "?");
}

}  // namespace molgraph
