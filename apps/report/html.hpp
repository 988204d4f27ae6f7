// Text of others inside HTML, and the few shapes that the report is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Safe between tags and inside quoted attributes, whatever the text is: & < > " ' are written as references, bytes
/// that are no UTF-8 and control characters become U+FFFD.
std::string escaped(std::string_view text);
/// At most `most` characters of it, "..." behind what was cut (before escaping).
std::string cut_short(std::string_view text, std::size_t most);

/// A table. All texts are HTML already: cells of data go through escaped() first.
struct HtmlTable {
  std::string caption;
  std::vector<std::string> head;               ///< the first stands over the rows' headings
  std::vector<std::vector<std::string>> rows;  ///< [head.size()] each; the first cell is the row's heading
  bool numbers = true;                         ///< cells but the first are numbers: right-aligned
  /// A table that may be wider than the window scrolls by itself, by the keyboard too.
  std::string html() const;
};

/// What people open to see: a summary line and what is under it.
std::string details(const std::string& summary, const std::string& content);

/// A number to four digits; an en dash for NaN.
std::string number_html(double value);
/// "0.512 (0.481 to 0.547)".
struct Estimate;
std::string estimate_html(const Estimate& estimate);

}  // namespace molgraph
