// Escaping of text for HTML, and the elements of the report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Replaces invalid UTF-8 and control characters except tabs and line ends by U+FFFD.
std::string printable(std::string_view text);
/// Makes any text safe between tags and inside quoted attributes: & < > " ' become character references, invalid UTF-8
/// and control characters become U+FFFD.
std::string escaped(std::string_view text);
/// Truncates to `max_bytes` bytes at a character boundary and appends "..." (before escaping).
std::string cut_short(std::string_view text, std::size_t max_bytes);

inline constexpr const char* kSortableTable = "<table class=\"numbers sortable\">";

/// A table. All texts are HTML: pass data through escaped() first.
struct HtmlTable {
  std::string caption;
  std::vector<std::string> head;               ///< the first is above the row headings
  std::vector<std::vector<std::string>> rows;  ///< [head.size()] each; the first cell is the row heading
  bool numbers = true;                         ///< whether to right-align all cells except the first
  bool sortable = false;                       ///< whether kSortScript can sort the rows
  /// A table that is wider than the window scrolls separately, also with the keyboard.
  std::string html() const;
};

/// A collapsed section with a summary line.
std::string details(const std::string& summary, const std::string& content);

/// A number with four digits; an en dash for NaN.
std::string number_html(double value);
/// "0.512 (0.481 to 0.547)".
struct Estimate;
std::string estimate_html(const Estimate& estimate);

}  // namespace molgraph
