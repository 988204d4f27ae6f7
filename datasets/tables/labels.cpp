#include "datasets/tables/labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/system/text.hpp"
#include "datasets/tables/targets.hpp"

namespace molgraph {

namespace {

constexpr std::array<std::array<std::string_view, 2>, kPairs> kWords{
    {{"0", "1"}, {"no", "yes"}, {"inactive", "active"}, {"false", "true"}, {"negative", "positive"}}};

}  // namespace

std::optional<BinaryLabel> binary_label(std::string_view cell) {
  constexpr std::size_t kLongest = 8;
  const std::string_view text = trim(cell);
  if (text.size() <= kLongest) {
    const std::string word = lower(text);
    for (std::uint8_t pair = kNumberPair + 1; pair < kPairs; ++pair)
      for (const bool positive : {false, true})
        if (word == kWords[pair][positive ? 1 : 0]) return BinaryLabel{positive, pair};
  }
  const auto number = number_of_cell(text);
  if (number && (*number == 0 || *number == 1)) return BinaryLabel{*number == 1, kNumberPair};
  return std::nullopt;
}

std::vector<std::string> words_of_pair(std::uint8_t pair) {
  return {std::string(kWords[pair][0]), std::string(kWords[pair][1])};
}

std::string class_label(std::string_view cell) {
  const std::string_view text = trim(cell);
  const auto number = number_of_cell(text);
  const bool is_word = lower(text) == "true" || lower(text) == "false";
  if (number && !is_word && std::abs(*number) < 1e9 && *number == std::floor(*number))
    return std::to_string(static_cast<long long>(*number));
  return std::string(text);
}

std::vector<std::string> sorted_labels(const std::set<std::string>& labels) {
  std::vector<std::string> result(labels.begin(), labels.end());
  const auto is_number = [](const std::string& label) { return number_of_cell(label).has_value(); };
  if (std::ranges::all_of(result, is_number))
    std::ranges::stable_sort(result, {}, [](const std::string& label) { return *number_of_cell(label); });
  return result;
}

bool is_censored(std::string_view cell) {
  constexpr std::array<std::string_view, 7> signs{"<", ">", "~", "=", "\u2264", "\u2265", "\u2248"};  // <= >= ~~
  std::string_view text = trim(cell);
  const std::size_t whole = text.size();
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view sign : signs)
      if (text.starts_with(sign)) text = trim(text.substr(sign.size())), found = true;
  }
  if (text.size() == whole || text.empty()) return false;
  const bool signed_number = (text[0] == '-' || text[0] == '+') && text.size() > 1;
  const char first = signed_number ? text[1] : text[0];
  return (first >= '0' && first <= '9') || first == '.';
}

std::vector<std::string> labels_with_positive(const std::set<std::string>& labels, const std::string& positive) {
  const std::string wanted = lower(class_label(positive));
  std::vector<std::string> result(2);
  for (const std::string& label : labels) {
    std::string& place = result[lower(label) == wanted ? 1 : 0];
    if (!place.empty() && lower(place) != lower(label)) return {};
    if (place.empty()) place = label;
  }
  return result[1].empty() ? std::vector<std::string>{} : result;
}

}  // namespace molgraph
