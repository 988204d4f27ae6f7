#include "datasets/text.hpp"

#include <algorithm>
#include <ctime>

namespace molgraph {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return result;
}

std::string list_of(const std::vector<std::string>& items, std::size_t most) {
  std::string result;
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) result += (i ? ", " : "") + items[i];
  if (items.size() > most) result += " ... and " + std::to_string(items.size() - most) + " more";
  return result;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace molgraph
