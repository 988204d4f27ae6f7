#include "datasets/tables/column_stats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "datasets/system/text.hpp"
#include "datasets/tables/labels.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxDistinctChecked = 1024;  ///< values that are checked for duplicates
constexpr std::size_t kMaxText = 200;              ///< characters of a cell kept for a message

bool is_digits(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the cell without surrounding blanks and sign.
std::string_view without_sign(std::string_view cell) {
  std::string_view text = trim(cell);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

}  // namespace

bool is_missing(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  constexpr std::array<std::string_view, 9> words{"-", "nan", "-nan", "na", "n/a", "#n/a", "null", "none", "<na>"};
  return std::ranges::find(words, lower(text)) != words.end();
}

std::optional<double> number_of_cell(std::string_view cell) {
  std::string_view text = trim(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stop == text.data() + text.size())
    return std::abs(number) <= std::numeric_limits<float>::max() ? std::optional(number) : std::nullopt;
  const std::string word = text.size() <= 5 ? lower(text) : std::string();
  if (word == "true") return 1.0;
  if (word == "false") return 0.0;
  return std::nullopt;
}

float weight_of_cell(std::string_view cell, const std::string& column, const std::string& file, std::int64_t row) {
  const auto number = number_of_cell(cell);
  if (number && *number >= 0) return static_cast<float>(*number);
  throw DataError(file, row + 1, "column '" + column + "': the weight must be a number of at least 0",
                  std::string(cell));
}

bool has_decimal_comma(std::string_view cell) {
  const std::string_view text = without_sign(cell);
  const auto comma = text.find(',');
  return comma != std::string_view::npos && is_digits(text.substr(0, comma)) && is_digits(text.substr(comma + 1));
}

bool has_thousands_commas(std::string_view cell) {
  std::string_view text = without_sign(cell);
  if (const auto point = text.find('.'); point != std::string_view::npos) {
    if (!is_digits(text.substr(point + 1))) return false;
    text = text.substr(0, point);
  }
  const auto first = text.find(',');
  if (first > 3 || !is_digits(text.substr(0, first)) || text[0] == '0') return false;  // npos is greater than 3
  for (text.remove_prefix(first); !text.empty(); text.remove_prefix(4))
    if (text[0] != ',' || text.size() < 4 || !is_digits(text.substr(1, 3))) return false;
  return true;
}

std::string_view part_of_cell(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.size() < 3 || text.size() > 10) return {};
  const std::string word = lower(text);
  if (word == "train") return "train";
  if (word == "test") return "test";
  return word == "val" || word == "valid" || word == "validation" ? "valid" : "";
}

void ColumnStats::add(std::string_view cell, const std::string& file, std::int64_t row) {
  ++rows;
  if (is_missing(cell)) return;
  ++filled;
  const auto keep_first = [&](CellPlace& place) {
    if (!place.exists()) place = {file, std::string(cell.substr(0, kMaxText)), row};
  };
  const auto number = number_of_cell(cell);
  const auto measured = number ? std::nullopt : measured_number(cell);
  if (number || measured) {
    const double value = number ? *number : measured->number;
    const std::string_view cell_unit = measured ? std::string_view(measured->unit) : std::string_view();
    if (measured && measured->bound != 0) ++censored, keep_first(first_censored);
    else if (measured && measured->sign.empty() && !cell_unit.empty()) ++with_unit;
    else ++numbers;
    if (number && std::isalpha(static_cast<unsigned char>(trim(cell)[0])) != 0) keep_first(first_true_or_false);
    if (measured && measured->approximate && measured->bound == 0) ++approximate, keep_first(first_approximate);
    const bool is_limit = measured && measured->bound != 0;
    if (!cell_unit.empty()) {
      keep_first(first_unit);
      if (unit.empty()) unit = cell_unit;
      else if (unit != cell_unit) keep_first(other_unit);
    } else if (!is_limit && value != 0) {
      keep_first(first_bare);
    }
    if (measured && measured->thousands) {
      keep_first(first_thousands);
      has_point_or_groups = has_point_or_groups || !has_decimal_comma(measured->digits);
      has_thousands_with_0 = has_thousands_with_0 || measured->digits.ends_with('0');
    } else {
      has_plain = true;
      has_point_or_groups = has_point_or_groups || cell.find('.') != std::string_view::npos;
      if (std::abs(value) >= 1000) keep_first(first_large);
    }
  } else {
    keep_first(first_text);
    if (has_decimal_comma(cell)) ++decimal_commas, keep_first(first_decimal_comma);
  }
  if (!first_not_binary.exists()) {
    if (const auto label = binary_label(cell)) pairs |= 1u << label->pair;
    else keep_first(first_not_binary);
  }
  if (filled == 1) first_value = cell.substr(0, kMaxText);
  is_constant = is_constant && first_value == cell.substr(0, kMaxText);
  is_whole = is_whole && number && std::abs(*number) < 1e15 && *number == std::floor(*number);
  if (is_whole) {
    min_whole = filled == 1 ? *number : std::min(min_whole, *number);
    max_whole = filled == 1 ? *number : std::max(max_whole, *number);
    if (checks_distinct && !repeats && whole.size() < kMaxDistinctChecked)
      repeats = !whole.insert(static_cast<std::int64_t>(*number)).second;
  }
  if (!is_whole || repeats) whole = {};
  if (const std::string_view part = number ? std::string_view() : part_of_cell(cell); !part.empty())
    ++part_words, parts.emplace(part);
  if (keep_labels ? labels.size() <= kMaxClasses : !number && labels.size() <= 2) labels.insert(class_label(cell));
}

}  // namespace molgraph
