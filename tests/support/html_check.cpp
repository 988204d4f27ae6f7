#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // false alarm of GCC 12 in <regex> with sanitizers
#include "tests/support/html_check.hpp"

#include <cctype>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace molgraph::test {
namespace {

const std::set<std::string> kVoid{"meta", "br", "hr", "link", "input", "img"};

std::string near(const std::string& html, std::size_t at) { return html.substr(at, 60); }

}  // namespace

std::string html_problem(const std::string& html) {
  static const std::regex kReference("^&(amp|lt|gt|quot|nbsp|ndash|#[0-9]+);");
  static const std::regex kAttribute(R"re(^\s+([A-Za-z-]+)="([^"<]*)")re");
  std::vector<std::string> open;
  std::set<std::string> ids, referenced;
  for (std::size_t at = 0; at < html.size();) {
    if (html[at] == '&') {
      std::smatch match;
      const std::string rest = html.substr(at, 12);
      if (!std::regex_search(rest, match, kReference)) return "a bare & at: " + near(html, at);
      at += match.length();
      continue;
    }
    if (html[at] == '>') return "a bare > at: " + near(html, at);
    if (html[at] != '<') {
      ++at;
      continue;
    }
    if (html.compare(at, 15, "<!DOCTYPE html>") == 0) {
      at += 15;
      continue;
    }
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag without an end: " + near(html, at);
    std::string tag = html.substr(at + 1, end - at - 1);
    const bool closing = tag.starts_with("/"), alone = tag.ends_with("/");
    if (closing) tag.erase(0, 1);
    if (alone) tag.pop_back();
    std::size_t length = 0;
    while (length < tag.size() && std::isalnum(static_cast<unsigned char>(tag[length]))) ++length;
    const std::string name = tag.substr(0, length);
    if (name.empty()) return "a tag without a name: " + near(html, at);
    if (closing) {
      if (open.empty() || open.back() != name)
        return "</" + name + "> closes " + (open.empty() ? "nothing" : "<" + open.back() + ">");
      open.pop_back();
      at = end + 1;
      continue;
    }
    std::string attributes = tag.substr(length);
    std::set<std::string> seen;
    for (std::smatch match; std::regex_search(attributes, match, kAttribute); attributes = match.suffix()) {
      if (!seen.insert(match[1]).second) return "an attribute twice: " + near(html, at);
      if (match[1] == "id" && !ids.insert(match[2]).second) return "an id twice: " + match[2].str();
      if (match[1] == "aria-labelledby") {
        std::istringstream names(match[2]);
        for (std::string one; names >> one;) referenced.insert(one);
      }
      if (match[1] == "href" && match[2].str().starts_with("#")) referenced.insert(match[2].str().substr(1));
    }
    if (attributes.find_first_not_of(" \n") != std::string::npos) return "attributes of: " + near(html, at);
    at = end + 1;
    if (name == "style") {  // its text is not HTML
      at = html.find("</style>", at);
      if (at == std::string::npos) return "<style> without an end";
      at += 8;
    } else if (!alone && !kVoid.contains(name)) {
      open.push_back(name);
    }
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  for (const std::string& id : referenced)
    if (!ids.contains(id)) return "there is no id " + id;
  return {};
}

std::string network_reference(const std::string& html) {
  static const std::regex kFetched(
      R"re(\s(src|srcset|action|data|poster|background|xlink:href|on[a-z]+)\s*=|\shref\s*=\s*"[^#"])re"
      R"re(|^<(script|iframe|object|embed|link|img|base)\b)re",
      std::regex::icase);
  static const std::regex kInStyle(R"(url\(|@import)", std::regex::icase);
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::string tag = html.substr(at, html.find('>', at) - at);
    if (std::regex_search(tag, kFetched) || std::regex_search(tag, kInStyle)) return tag;
    if (!tag.starts_with("<style")) continue;
    const std::string style = html.substr(at, html.find("</style>", at) - at);
    if (std::smatch match; std::regex_search(style, match, kInStyle)) return match.str();
  }
  return {};
}

}  // namespace molgraph::test
