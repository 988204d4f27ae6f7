#include "apps/report/target_lines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/report/html.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLinesShown = 20, kNameLength = 40;

/// Number of characters of UTF-8 text.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Rows with aligned columns: the first to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], width_of(row[c]));
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(width[c] - width_of(row[c]), ' ');
      out += c == 0 ? "  " + row[c] + space : "  " + space + row[c];
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string target_lines(const std::string& json) {
  const Json targets = Json::parse(json);
  if (targets.size() < 2) return {};
  std::vector<std::string> keys;
  for (const Json& target : targets)
    for (const auto& [key, value] : target.items())
      if (value.is_object() && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  std::vector<std::vector<std::string>> rows{{"target", "labels"}};
  rows[0].insert(rows[0].end(), keys.begin(), keys.end());
  for (std::size_t t = 0; t < std::min(targets.size(), kLinesShown); ++t) {
    const Json& target = targets[t];
    auto name = target["name"].get<std::string>();
    if (target.contains("logarithmic")) name = "log10(" + name + ")";
    std::ranges::replace_if(
        name, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    rows.push_back({cut_short(printable(name), kNameLength), with_thousands(target["labels"].get<std::int64_t>())});
    for (const std::string& key : keys) {
      const bool defined = target.contains(key) && target[key]["value"].is_number();
      rows.back().push_back(defined ? sensible_number(target[key]["value"].get<double>()) : "-");
    }
  }
  std::string out = aligned(rows);
  if (targets.size() > kLinesShown)
    out += "  ... and " +
           counted(static_cast<std::int64_t>(targets.size() - kLinesShown), "more target", "more targets") + "\n";
  return out;
}

}  // namespace molgraph
