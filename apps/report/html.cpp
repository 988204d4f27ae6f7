#include "apps/report/html.hpp"

#include <cmath>

#include "apps/report/statistics.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/utf8.hpp"

namespace molgraph {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length in bytes of the UTF-8 character that begins here; 0 if it is invalid or a control character.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto [code, bytes] = utf8_at(text, at);
  const bool control = (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0);
  return control ? 0 : bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    if (length == 0) safe += kReplacement;
    else safe += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return safe;
}

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : printable(text)) {
    if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '"') safe += "&quot;";
    else if (c == '\'') safe += "&#39;";
    else safe += c;
  }
  return safe;
}

std::string cut_short(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return std::string(text.substr(0, utf8_cut(text, max_bytes))) + "...";
}

std::string HtmlTable::html() const {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + caption + "\">";
  out += sortable ? kSortableTable : numbers ? "<table class=\"numbers\">" : "<table>";
  out += "<caption>" + caption + "</caption><thead><tr>";
  for (const std::string& cell : head) out += "<th scope=\"col\">" + cell + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c == 0 ? "<th scope=\"row\">" + row[c] + "</th>" : "<td>" + row[c] + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string details(const std::string& summary, const std::string& content) {
  return "<details><summary>" + summary + "</summary>\n" + content + "</details>\n";
}

std::string number_html(double value) { return std::isfinite(value) ? sensible_number(value) : "&ndash;"; }

std::string estimate_html(const Estimate& estimate) {
  std::string text = number_html(estimate.value);
  if (std::isfinite(estimate.low) && std::isfinite(estimate.high))
    text += " <span class=\"range\">" + number_html(estimate.low) + " to " + number_html(estimate.high) + "</span>";
  return text;
}

}  // namespace molgraph
