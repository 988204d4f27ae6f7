#include "datasets/tables/labels.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "datasets/system/text.hpp"
#include "datasets/tables/column_stats.hpp"

namespace molgraph {

namespace {

constexpr std::array<std::array<std::string_view, 2>, kPairs> kWords{
    {{"0", "1"}, {"no", "yes"}, {"inactive", "active"}, {"false", "true"}, {"negative", "positive"}}};

struct Sign {
  std::string_view text;
  int bound = 0;
  bool approximate = false;
};
constexpr std::array<Sign, 7> kSigns{
    {{"<", -1}, {">", 1}, {"~", 0, true}, {"=", 0}, {"\u2264", -1}, {"\u2265", 1}, {"\u2248", 0, true}}};

/// Removes a sign and the blanks after it from the beginning of `text`; returns null if there is none.
const Sign* take_sign(std::string_view& text) {
  for (const Sign& sign : kSigns) {
    if (!text.starts_with(sign.text)) continue;
    text = trim(text.substr(sign.text.size()));
    return &sign;
  }
  return nullptr;
}

/// True for text that may be the unit of a number: one word that begins with a letter, %, a degree sign, a micro sign
/// or an angstrom sign, without a second number. `separated`: a blank separates it from the number.
bool is_unit(std::string_view text, bool separated) {
  constexpr std::size_t kLongest = 20;
  constexpr std::array<std::string_view, 5> kUnitSigns{"%", "\u00b0", "\u00b5", "\u03bc", "\u00c5"};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool starts_like_unit =
      std::isalpha(static_cast<unsigned char>(text.front())) != 0 ||
      std::ranges::any_of(kUnitSigns, [&](std::string_view sign) { return text.starts_with(sign); });
  const bool is_power = (text[0] == 'e' || text[0] == 'E') && text.find_first_of("0123456789") != text.npos;
  return text.size() <= kLongest && starts_like_unit && !is_power &&
         text.find_first_of(" \t\r\n") == std::string_view::npos && (separated || std::ranges::none_of(text, is_digit));
}

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

bool are_words(const std::vector<std::string>& class_labels) {
  const auto is_number = [](const std::string& label) { return number_of_cell(label).has_value(); };
  return class_labels.size() == 2 && std::ranges::none_of(class_labels, is_number);
}

std::vector<std::string> sorted_labels(const std::set<std::string>& labels) {
  std::vector<std::string> result(labels.begin(), labels.end());
  const auto is_number = [](const std::string& label) { return number_of_cell(label).has_value(); };
  if (std::ranges::all_of(result, is_number))
    std::ranges::stable_sort(result, {}, [](const std::string& label) { return *number_of_cell(label); });
  return result;
}

bool is_censored(std::string_view cell) {
  std::string_view text = trim(cell);
  const std::size_t size = text.size();
  while (take_sign(text) != nullptr) continue;
  if (text.size() == size || text.empty()) return false;
  const bool signed_number = (text[0] == '-' || text[0] == '+') && text.size() > 1;
  const char first = signed_number ? text[1] : text[0];
  return (first >= '0' && first <= '9') || first == '.';
}

std::optional<MeasuredNumber> measured_number(std::string_view cell) {
  MeasuredNumber result;
  bool above = false, below = false;
  const std::string_view whole = trim(cell);
  std::string_view text = whole;
  while (const Sign* sign = take_sign(text)) {
    above = above || sign->bound > 0;
    below = below || sign->bound < 0;
    result.approximate = result.approximate || sign->approximate;
  }
  if (text.empty() || (above && below)) return std::nullopt;
  result.sign = trim(whole.substr(0, whole.size() - text.size()));
  result.bound = above ? 1 : below ? -1 : 0;
  const std::size_t plus = text[0] == '+' ? 1 : 0;  // from_chars does not accept a plus sign
  double ignored = 0;
  const char* end = std::from_chars(text.data() + plus, text.data() + text.size(), ignored).ptr;
  result.digits = text.substr(0, static_cast<std::size_t>(end - text.data()));
  if (text.substr(result.digits.size()).starts_with(',')) {
    result.digits = text.substr(0, text.find_first_not_of("+-0123456789,."));
    result.thousands = has_thousands_commas(result.digits);
    if (!result.thousands) return std::nullopt;
  }
  std::string plain(result.digits);
  if (result.thousands) std::erase(plain, ',');
  const auto number = number_of_cell(plain);
  if (!number) return std::nullopt;
  result.number = *number;
  const std::string_view rest = text.substr(result.digits.size());
  result.unit = trim(rest);
  if (!result.unit.empty() && !is_unit(result.unit, result.unit.size() < rest.size())) return std::nullopt;
  return result;
}

bool is_measured_unit(std::string_view unit) {
  constexpr std::array<std::string_view, 30> kUnits{
      "%",      "m",      "mm",       "um",     "nm",   "pm",   "fm",   "mol/l",     "mmol/l",    "umol/l",
      "nmol/l", "pmol/l", "g/l",      "mg/l",   "ug/l", "ng/l", "g/ml", "mg/ml",     "ug/ml",     "ng/ml",
      "pg/ml",  "mg/dl",  "kcal/mol", "kj/mol", "ev",   "cm/s", "nm/s", "ml/min/kg", "ul/min/mg", "ul/min/10^6"};
  std::string word = lower(unit);
  for (const std::string_view micro : {"\u00b5", "\u03bc"})
    if (word.starts_with(micro)) word.replace(0, micro.size(), "u");
  return std::ranges::find(kUnits, word) != kUnits.end();
}

std::vector<std::string> labels_with_positive(const std::set<std::string>& labels, const std::string& positive) {
  const std::string positive_label = lower(class_label(positive));
  std::vector<std::string> result(2);
  for (const std::string& label : labels) {
    std::string& place = result[lower(label) == positive_label ? 1 : 0];
    if (!place.empty() && lower(place) != lower(label)) return {};
    if (place.empty()) place = label;
  }
  return result[0].empty() || result[1].empty() ? std::vector<std::string>{} : result;
}

}  // namespace molgraph
